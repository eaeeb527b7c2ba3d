// The virtualized rows of the list of traces, and focusing one of them.
import { defaultRangeExtractor, useWindowVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { useMedia } from "../../ui/media.ts";
import type { Density } from "./display.ts";

/** Row heights in rem; traces.css has the same. */
const rowRem: Record<Density, number> = { comfortable: 3.5, compact: 2 };
const cardRem = 8.75;
const wideCardRem = 5.75;
/** The height that the actions for selected traces cover at the window's end. */
const bulkBarPx = 72;
/** All rows have the same height, in rem. The focused row stays in the DOM wherever the list is scrolled. */
export function useRows(
  body: RefObject<HTMLDivElement | null>,
  rows: readonly TraceRow[],
  currentAt: number,
  dense: Density,
) {
  const cards = useMedia("(max-width: 1023px)");
  const narrow = useMedia("(max-width: 767px)");
  const [scrollMargin, setScrollMargin] = useState(0);
  const [rem] = useState(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const rowPx = rem * (narrow ? cardRem : cards ? wideCardRem : rowRem[dense]);
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin,
    scrollPaddingStart: rowPx * 2,
    scrollPaddingEnd: Math.max(rowPx, bulkBarPx),
    rangeExtractor: range => {
      const visible = defaultRangeExtractor(range);
      if (currentAt < 0 || visible.includes(currentAt)) return visible;
      return currentAt < visible[0]! ? [currentAt, ...visible] : [...visible, currentAt];
    },
  });
  useLayoutEffect(() => {
    // Only on resize, because it forces a layout. Being off by a few rows is harmless.
    const measure = () => setScrollMargin((body.current?.getBoundingClientRect().top ?? 0) + scrollY);
    measure();
    addEventListener("resize", measure);
    return () => removeEventListener("resize", measure);
  }, [body]);
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, rowPx]);
  return virtualizer;
}

/** Focuses a row's link once it is in the DOM; first that of `initial`. */
export function useFocusRow(body: RefObject<HTMLDivElement | null>, initial: string | undefined) {
  const wanted = useRef<{ id: string | undefined; options?: FocusOptions }>({ id: initial });
  const focus = () => {
    const { id, options } = wanted.current;
    if (id === undefined) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-id="${id}"] a`);
    if (!link) return;
    wanted.current = { id: undefined };
    link.focus({ preventScroll: true, ...options });
  };
  useEffect(() => {
    // After the page's main element, which every navigation focuses.
    const timer = setTimeout(focus);
    return () => clearTimeout(timer);
  });
  return (id: string) => {
    // WebKit would show no focus ring after a click.
    wanted.current = { id, options: { focusVisible: true } };
    focus();
  };
}
