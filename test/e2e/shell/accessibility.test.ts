// Tests that the accessibility check finds violations in both themes.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { assertAccessible } from "../../support/accessible.ts";
import { findBrowser } from "../../support/chromium.ts";

let browser: Browser;
let page: Page;
before(async () => {
  browser = await chromium.launch(findBrowser());
  page = await browser.newPage({ colorScheme: "light" });
});
after(() => browser.close());

/** A page that follows the system's theme as the dashboard does. */
async function show(body: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  await page.setContent(`<!doctype html>
    <html lang="en" data-theme="light">
      <head><title>A page</title></head>
      <body><main><h1>A page</h1>${body}</main></body>
      <script>
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
          document.documentElement.dataset.theme = matches ? "dark" : "light";
        });
      </script>
    </html>`);
}

test("a page without violations passes", async () => {
  await show("<p>Text</p>");
  await assertAccessible(page);
});

test("an image without alt text fails in the light theme", async () => {
  await show('<img src="x.png">');
  await assert.rejects(assertAccessible(page), { actual: ["image-alt: img"], message: /light theme/ });
});

test("a contrast that is too low only in the dark theme fails there", async () => {
  await show(
    "<style>@media (prefers-color-scheme: dark) { p { background: #fff; color: #eee } }</style><p>Text</p>",
  );
  await assert.rejects(assertAccessible(page), { actual: ["color-contrast: p"], message: /dark theme/ });
});

test("a contrast that is too low is found in one row of a list of like rows, by its own style or that of what holds it", async () => {
  const rows = (nth: string) =>
    Array.from({ length: 9 }, (_, at) => `<li${at === 4 ? nth : ""}><span>Row ${at}</span></li>`).join("");
  await show(`<style>.pale span { color: #ddd }</style><ul>${rows(' class="pale"')}</ul>`);
  await assert.rejects(assertAccessible(page), { actual: ["color-contrast: .pale > span"] });
  await show(`<style>[title] { background: #222 }</style><ul>${rows(' title="dark"')}</ul>`);
  await assert.rejects(assertAccessible(page), { actual: ['color-contrast: li[title="dark"] > span'] });
  await show(`<ul>${rows("")}</ul>`);
  await assertAccessible(page);
});
