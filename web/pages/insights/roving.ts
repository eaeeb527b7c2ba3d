// Roving tabindex for a chart: one Tab stop, and arrow keys between its links.
import { type RefObject, useEffect } from "react";

/**
 * Left and right move between intervals, up and down within one, Home and End to the ends. The state is in the DOM,
 * so that a chart of thousands of links is not rendered again for each key.
 */
export function useRoving(svg: RefObject<SVGSVGElement | null>): void {
  // After every rendering, since new elements need a Tab stop again.
  useEffect(() => {
    const root = svg.current;
    if (!root) return;
    const links = () => [...root.querySelectorAll<SVGAElement>("a")];
    const stopAt = (link: SVGAElement | undefined) => {
      for (const other of root.querySelectorAll("a[tabindex='0']")) other.setAttribute("tabindex", "-1");
      link?.setAttribute("tabindex", "0");
    };
    const onFocus = ({ target }: FocusEvent) => {
      if (target instanceof SVGAElement) stopAt(target);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof SVGAElement)) return;
      const next = nextOf(event.key, event.target, links());
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    if (!root.querySelector("a[tabindex='0']"))
      stopAt(links().findLast(link => link.dataset["kind"] === "all"));
    root.addEventListener("focusin", onFocus);
    root.addEventListener("keydown", onKey);
    return () => {
      root.removeEventListener("focusin", onFocus);
      root.removeEventListener("keydown", onKey);
    };
  });
}

function nextOf(key: string, link: SVGAElement, links: SVGAElement[]): SVGAElement | undefined {
  const { at, kind } = link.dataset;
  const here = links.indexOf(link);
  const column = (found: SVGAElement | undefined) =>
    found &&
    (links.find(other => sameColumn(other, found) && other.dataset["kind"] === kind) ??
      firstOf(found, links));
  switch (key) {
    case "ArrowLeft":
      return column(links.slice(0, here).findLast(other => other.dataset["at"] !== at));
    case "ArrowRight":
      return column(links.slice(here).find(other => other.dataset["at"] !== at));
    case "ArrowUp":
      return [links[here + 1]].find(other => other?.dataset["at"] === at);
    case "ArrowDown":
      return [links[here - 1]].find(other => other?.dataset["at"] === at);
    case "Home":
      return links[0];
    case "End":
      return column(links.at(-1));
    default:
      return undefined;
  }
}

function sameColumn(one: SVGAElement, other: SVGAElement): boolean {
  return one.dataset["at"] === other.dataset["at"];
}

function firstOf(link: SVGAElement, links: SVGAElement[]): SVGAElement {
  return links.find(other => sameColumn(other, link))!;
}
