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

/** Hashes of the styles whose contrast was sufficient on an earlier page of this process. */
const sufficient = new Set<number>();

/**
 * Chooses the elements whose contrast is measured: of those with the same styles all the way up, the first and the last,
 * unless such styles passed on an earlier page. Measuring contrast is nine tenths of what axe does, and most texts look
 * like others: of 324 texts in a list of traces 30 differ, and most of these are in the frame of every page.
 */
const chooseSamples = `
  const chains = new Map();
  function chainOf(element) {
    if (!element) return 0;
    let chain = chains.get(element);
    if (chain === undefined) {
      const style = getComputedStyle(element);
      const { color, fill, backgroundColor, backgroundImage, opacity, visibility, position } = style;
      const { fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath } = style;
      const off = element.matches(":disabled, [aria-disabled=true], [aria-hidden=true], [inert]");
      chain = hash([chainOf(element.parentElement), element.tagName, element.className.baseVal ?? element.className, off,
        color, fill, backgroundColor, backgroundImage, opacity, visibility, position,
        fontSize, fontWeight, textShadow, filter, mixBlendMode, clipPath].join());
      chains.set(element, chain);
    }
    return chain;
  }
  /** 53 bits of two multiplicative hashes (cyrb53). */
  function hash(text) {
    let high = 0xdeadbeef;
    let low = 0x41c6ce57;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return 4294967296 * (2097151 & low) + (high >>> 0);
  }
  const hasText = element => element.matches("input, select, textarea")
    || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const texts = [...document.body.querySelectorAll("*")]
    .filter(element => hasText(element) && !sufficient.has(chainOf(element)));
  const first = new Map(texts.toReversed().map(element => [chainOf(element), element]));
  const last = new Map(texts.map(element => [chainOf(element), element]));
  samples = new Set([...first.values(), ...last.values()]);
  measured = new Set();
`;

/** Limits the measuring of contrast to the samples, and keeps what was measured: axe lets hidden texts pass. */
const configure = `
  window.samples = new Set();
  window.measured = new Set();
  const rule = axe._audit.rules.find(({ id }) => id === "color-contrast");
  const { matches } = rule;
  rule.matches = function (element, ...rest) {
    return samples.has(element) && matches.call(this, element, ...rest);
  };
  const check = axe._audit.checks["color-contrast"];
  const { evaluate } = check;
  check.evaluate = function (element, ...rest) {
    const result = evaluate.call(this, element, ...rest);
    const isShown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    if (result === true && isShown && element.getClientRects().length > 0) measured.add(element);
    return result;
  };
`;

/**
 * For one test per screen, dialog, menu, error and empty state that has markup of its own: a call takes 0.2 s of a core.
 * Calls axe-core itself: @axe-core/playwright injects it for every run and collects every node that passes.
 */
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
    if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${source};(() => {${configure}})()`);
    const { violations, passed } = await page.evaluate<
      Pick<axe.AxeResults, "violations"> & { passed: number[] }
    >(`(async () => {
      const sufficient = new Set(${JSON.stringify([...sufficient])});
      ${chooseSamples}
      const { violations } = await axe.run(${JSON.stringify(context)}, ${JSON.stringify(options)});
      // Both samples of a look have to pass.
      const failed = new Set([...samples].filter(element => !measured.has(element)).map(chainOf));
      const passed = [...samples].map(chainOf).filter(chain => !failed.has(chain));
      return { violations, passed };
    })()`);
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(" ")}`);
    for (const chain of passed) sufficient.add(chain);
    assert.deepEqual(found, [], `${page.url()} in the ${colorScheme} theme`);
  }
}
