// Checks that a page follows WCAG 2.2 AA and axe's own best practices, in the light and in the dark theme.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

/** Minified, half as long as `axe.source`: Chromium reads all of it in every page that is checked. */
const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** The rules whose outcome a theme can change: themes differ only in colors. */
const colorRules = ["color-contrast", "link-in-text-block"];

/**
 * Marks the elements whose contrast is measured: of those with the same styles all the way up, the first and the last.
 * Measuring contrast is nine tenths of what axe does, and all rows of a list look alike: of 324 texts in a list of
 * traces 30 differ.
 */
const markSamples = `
  const chains = new Map();
  function chainOf(element) {
    if (!element) return "";
    let chain = chains.get(element);
    if (chain === undefined) {
      const style = getComputedStyle(element);
      const { color, fill, backgroundColor, backgroundImage, opacity, visibility, position } = style;
      const { fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath } = style;
      const off = element.matches(":disabled, [aria-disabled=true], [aria-hidden=true], [inert]");
      chain = [chainOf(element.parentElement), element.tagName, element.className.baseVal ?? element.className, off,
        color, fill, backgroundColor, backgroundImage, opacity, visibility, position,
        fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath].join();
      chains.set(element, chain);
    }
    return chain;
  }
  const hasText = element => element.matches("input, select, textarea")
    || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const texts = [...document.body.querySelectorAll("*")].filter(hasText);
  const first = new Map(texts.toReversed().map(element => [chainOf(element), element]));
  const last = new Map(texts.map(element => [chainOf(element), element]));
  const samples = [...first.values(), ...last.values()];
  for (const element of samples) element.setAttribute("data-contrast-sample", "");
`;

const configure = `axe.configure({ rules: [{ id: "color-contrast", selector: "[data-contrast-sample]" }] })`;

/** Calls axe-core itself: @axe-core/playwright injects it for every run and collects every node that passes. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.locator(`html[data-theme=${colorScheme}]`).waitFor();
    // The focus guards of dialogs and menus pass the focus on, so no user stays on them.
    const context = { exclude: [["[data-base-ui-focus-guard]"]] };
    const options: axe.RunOptions = {
      resultTypes: ["violations"],
      ...(colorScheme === "dark" && { runOnly: { type: "rule", values: colorRules } }),
    };
    if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${source};${configure}`);
    const { violations } = await page.evaluate<axe.AxeResults>(`(async () => {
      ${markSamples}
      try {
        return await axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)});
      } finally {
        for (const element of samples) element.removeAttribute("data-contrast-sample");
      }
    })()`);
    const found = violations
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`)
      .map(text => text.replaceAll('[data-contrast-sample=""]', ""));
    assert.deepEqual(found, [], `${page.url()} in the ${colorScheme} theme`);
  }
}
