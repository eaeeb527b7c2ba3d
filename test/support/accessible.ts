// Checks that a page follows WCAG 2.2 AA and axe's own best practices, in the light and in the dark theme.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** The rules whose outcome a theme can change: themes differ only in colors. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Measures the contrast of samples: of texts with the same styles all the way up, the first and the last, unless such
 * texts passed on another page. Measuring contrast is nine tenths of what axe does, and all rows of a list look alike:
 * of 324 texts in a list of traces 30 differ, and few of those are on no other page. A check of a list of tests takes
 * 120 ms of the page's CPU time instead of 270.
 */
const samples = `
  function hash(text) { // cyrb53
    let low = 0xdeadbeef, high = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      low = Math.imul(low ^ text.charCodeAt(at), 2654435761);
      high = Math.imul(high ^ text.charCodeAt(at), 1597334677);
    }
    return ((high >>> 0).toString(36) + (low >>> 0).toString(36));
  }
  /** The texts of the page by a hash of their styles and of those of all elements around them. */
  function textsByStyles() {
    const hashes = new Map();
    function hashOf(element) {
      if (!element) return "";
      let known = hashes.get(element);
      if (known === undefined) {
        const style = getComputedStyle(element);
        const { color, fill, backgroundColor, backgroundImage, opacity, visibility, position } = style;
        const { fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath } = style;
        const off = element.matches(":disabled, [aria-disabled=true], [aria-hidden=true], [inert]");
        known = hash([hashOf(element.parentElement), element.tagName, element.className.baseVal ?? element.className,
          off, color, fill, backgroundColor, backgroundImage, opacity, visibility, position,
          fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath].join());
        hashes.set(element, known);
      }
      return known;
    }
    const hasText = element => element.matches("input, select, textarea")
      || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
    return Map.groupBy([...document.body.querySelectorAll("*")].filter(hasText), hashOf);
  }
  // A mark that axe leaves out of the selectors that it reports.
  axe.configure({ rules: [{ id: "color-contrast", selector: "[xmlns=sample]" }] });
  globalThis.contrastSamples = {
    styles: () => [...textsByStyles().keys()],
    /** Calls axe; "passed" are the styles whose contrast is good. */
    async run(context, options, known) {
      const sampled = new Map();
      for (const [styles, texts] of textsByStyles()) {
        if (!known.includes(styles)) for (const text of [texts[0], texts.at(-1)]) sampled.set(text, styles);
      }
      const passed = [];
      axe.addReporter("samples", (results, options, callback) => {
        const contrast = results.find(({ id }) => id === "color-contrast");
        for (const { node } of contrast?.passes ?? []) passed.push(sampled.get(node.element));
        axe.getReporter("no-passes")(results, options, callback);
      });
      for (const text of sampled.keys()) text.setAttribute("xmlns", "sample");
      try {
        const { violations } = await axe.run(context, { ...options, reporter: "samples" });
        return { violations, passed };
      } finally {
        for (const text of sampled.keys()) text.removeAttribute("xmlns");
      }
    },
  };
`;

/** Styles of texts whose contrast was good on any page of this process. */
const passedStyles = new Set<string>();

/** The minified build: a document compiles it in half the time. */
const source = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** Calls axe-core itself: @axe-core/playwright injects it for every run and collects every node that passes. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    // The focus guards of dialogs and menus pass the focus on, so no user stays on them.
    const context = { exclude: [["[data-base-ui-focus-guard]"]] };
    const options: axe.RunOptions =
      colorScheme === "dark" ? { runOnly: { type: "rule", values: colorRules } } : {};
    if (!(await page.evaluate("'contrastSamples' in globalThis"))) {
      await page.evaluate(`${source};(() => {${samples}})()`);
    }
    const styles = await page.evaluate<string[]>("contrastSamples.styles()");
    const known = styles.filter(each => passedStyles.has(each));
    const call = `contrastSamples.run(${[context, options, known].map(each => JSON.stringify(each)).join()})`;
    const { violations, passed } = await page.evaluate<{ violations: axe.Result[]; passed: string[] }>(call);
    for (const each of passed) passedStyles.add(each);
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`);
    assert.deepEqual(found, [], `${page.url()} in the ${colorScheme} theme`);
  }
}
