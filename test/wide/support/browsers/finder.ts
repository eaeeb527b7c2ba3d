// The function that finds an element by role and name inside the page: neither browser's driver can be asked for one.

/** Elements that have a role without the attribute. */
const implicit = {
  button: "button, summary",
  link: "a[href]",
  heading: "h1, h2, h3",
  field: "input, select, textarea",
  table: "table",
  row: "tr",
  listitem: "li",
  region: "section[aria-label], section[aria-labelledby]",
};

/**
 * JavaScript source. Called with a target, returns its box, or the names of the elements with that role. `toClick` scrolls
 * to it, returns whether a click in its middle hits it, and keeps the next click from everything else: the page may move
 * until the click arrives. `clickResult` tells where that went.
 */
export const finder = `(target, toClick) => {
  const implicit = ${JSON.stringify(implicit)};
  const clean = text => (text ?? "").replace(/\\s+/g, " ").trim();
  const isVisible = element =>
    element.getClientRects().length > 0 && element.checkVisibility({ visibilityProperty: true });
  const textOf = id => document.getElementById(id)?.textContent;
  const labelsOf = element => (element.labels?.length ? [...element.labels] : []);
  const nameOf = element => clean(
    element.getAttribute("aria-label")
      ?? element.getAttribute("aria-labelledby")?.split(" ").map(textOf).join(" ")
      ?? (labelsOf(element).map(label => label.textContent).join(" ") || element.textContent),
  );
  const matches = ({ name, pattern, flags }, text) =>
    pattern === undefined ? name === undefined || text === name : new RegExp(pattern, flags).test(text);
  const all = wanted => {
    const root = wanted.within ? all(wanted.within)[0] : document;
    if (!root) return [];
    const isText = wanted.role === "text";
    const selector = isText ? "*" : [implicit[wanted.role], "[role=" + wanted.role + "]"].filter(Boolean).join(", ");
    const found = [...root.querySelectorAll(selector)].filter(
      element => matches(wanted, isText ? clean(element.textContent) : nameOf(element)) && isVisible(element));
    return isText ? found.filter(element => !found.some(other => other !== element && element.contains(other))) : found;
  };
  const element = all(target)[0];
  if (!element) {
    const others = all({ role: target.role, within: target.within }).slice(0, 30);
    return { names: others.map(element => nameOf(element).slice(0, 60)) };
  }
  const boxOf = ({ x, y, width, height }) => ({ x, y, width, height });
  if (!toClick) return { box: boxOf(element.getBoundingClientRect()) };
  element.scrollIntoView({ block: "nearest", behavior: "instant" });
  const box = boxOf(element.getClientRects()[0]); // the first line of a link
  const { x, y, width, height } = box;
  const isHit = at => at !== null && [element, ...labelsOf(element)].some(part => part.contains(at));
  window.awaitedClick?.end();
  const events = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
  const listener = event => {
    const hit = isHit(event.target);
    if (!hit) {
      event.preventDefault();
      event.stopImmediatePropagation();
      window.awaitedClick.result = "missed";
    }
    if (event.type !== "click") return;
    window.awaitedClick.result ??= "hit";
    window.awaitedClick.end();
  };
  for (const event of events) addEventListener(event, listener, true);
  window.awaitedClick = {
    result: undefined,
    end: () => { for (const event of events) removeEventListener(event, listener, true); },
  };
  return { box, hit: isHit(document.elementFromPoint(Math.round(x + width / 2), Math.round(y + height / 2))) };
}`;

/** JavaScript source: "hit", "missed", undefined before the click, or "left" once the click has opened another page. */
export const clickResult = `() => (window.awaitedClick ? window.awaitedClick.result : "left")`;
