// Tests the dashboard in Firefox ESR and WebKitGTK: a walk through its screens, and layout, focus and keys where
// browsers differ. Everything else is tested in Chromium, by test/e2e.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { buildWhenNeeded } from "../../../scripts/build.ts";
import type { Driver } from "../support/browsers/driver.ts";
import { startFirefox } from "../support/browsers/firefox.ts";
import { openPage, type Page } from "../support/browsers/page.ts";
import { button, dialog, field, link, region, spanRow, spanTree } from "../support/browsers/screens.ts";
import { openPalette, signIn, walk } from "../support/browsers/walk.ts";
import { startWatchedAgent, type WatchedAgent } from "../support/browsers/watched-agent.ts";
import { startWebKitGtk } from "../support/browsers/webkitgtk.ts";
import { leftOut } from "../support/needs.ts";

const desktop = { width: 1280, height: 720 };
const low = { width: 1280, height: 620 };
const phone = { width: 390, height: 800 };
/** About ten rows of a list. */
const strip = { width: 1280, height: 480 };

const lists = [
  { list: "traces", first: /^Question 1\b/ },
  { list: "tests", first: /Draft 40$/ },
] as const;

inBrowser("Firefox ESR", startFirefox, await leftOut("firefox"));
inBrowser("WebKitGTK", startWebKitGtk, await leftOut("webkitgtk"));

function inBrowser(name: string, start: () => Promise<Driver>, skip: string | false): void {
  suite(`the dashboard in ${name}`, { skip }, () => {
    let since: number;
    let agent: WatchedAgent;
    let driver: Driver;
    let page: Page;
    before(async () => {
      since = performance.now();
      await buildWhenNeeded();
      agent = await startWatchedAgent();
      driver = await start();
      page = openPage(driver, agent.origin);
      await page.resize(desktop);
      await signIn(page, agent.service.owner);
    });
    after(async () => {
      await driver?.close();
      await agent?.service.stop();
      console.log(`${driver?.name}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
    });

    async function open(path: string, size = desktop): Promise<void> {
      await page.resize(size);
      await page.goto(path);
    }

    test("shows every screen, from the list of traces to the first trace of a new agent", async () => {
      await open(agent.traces);
      await walk(page, agent, phone);
    });

    test("gives the panes of a trace their height in a low window", async () => {
      await open(agent.failedTrace, low);
      for (const pane of ["Tree", "Evaluation"]) {
        const { height } = await page.waitFor(region(pane));
        assert.ok(height > 300, `${pane} is ${height} pixels high`);
      }
    });

    test("gives the tree of a large trace a height of its own in a narrow window", async () => {
      await open(`${agent.largeTrace}?view=spans`, phone);
      await page.waitFor(spanRow(/^step 1,/));
      const { height } = await page.waitFor(spanTree);
      assert.ok(height > 200 && height < 2 * phone.height, `the tree is ${height} pixels high`);
      const rows = await page.evaluate("document.querySelectorAll('[role=treeitem]').length");
      assert.ok(Number(rows) < 200, `${rows} of 1,501 rows are in the page`);
    });

    test("leaves the page where it is scrolled when Esc closes the palette", async () => {
      await open(agent.traces, strip);
      await page.waitFor(link(/^Question 1\b/));
      await page.evaluate("scrollTo(0, 400)");
      await page.becomesTrue("scrollY === 400 && document.activeElement === document.body");
      await openPalette(page);
      await page.press("Escape");
      await page.waitUntilGone(dialog("Go to…"));
      await page.afterFrames();
      assert.equal(await page.evaluate("scrollY"), 400);
    });

    for (const { list, first } of lists) {
      test(`shows the focus of j and k after a click, in the list of ${list}`, async () => {
        await open(agent[list]);
        await page.waitFor(link(first));
        await page.click({ role: "heading" });
        for (const key of ["j", "j", "k"]) {
          await page.press(key);
          await page.becomesTrue("document.activeElement.matches('tr a, [role=row] a')");
          await page.becomesTrue("document.activeElement.matches(':focus-visible')");
        }
      });

      test(`keeps the row that j reaches clear of the window's edge, in the list of ${list}`, async () => {
        await open(agent[list], strip);
        await page.waitFor(link(first));
        const row = "document.activeElement.closest('tr, [role=row]')";
        for (let presses = 0; presses < 14; presses++) {
          await page.press("j");
          // A row that is not rendered yet is focused, and scrolled to, in later frames.
          await page.becomesTrue(`${row} && ${row} !== window.lastRow`);
          await page.becomesTrue(`innerHeight - ${row}.getBoundingClientRect().bottom >= 16`);
          await page.evaluate(`void (window.lastRow = ${row})`);
        }
      });
    }

    test("shows the focus of n after a click, on a failed check", async () => {
      await open(agent.failedTrace);
      await page.click(spanRow(/^plan,/));
      await page.press("n");
      await page.becomesTrue("document.activeElement.closest('section[aria-label=Evaluation]') !== null");
      await page.becomesTrue("document.activeElement.matches(':focus-visible')");
    });

    test("shows the focus of a date input", async () => {
      await open(agent.keys);
      await page.click(button("New key"));
      await page.waitFor(dialog("New key"));
      // The open list of a select is not part of the page, so no driver can click in it.
      await page.evaluate(`(select => {
        select.value = "date";
        select.dispatchEvent(new Event("change", { bubbles: true }));
      })(document.querySelector("[role=dialog] select"))`);
      await page.click(field("Last day"));
      await page.becomesTrue("document.activeElement.type === 'date'");
      await page.becomesTrue("getComputedStyle(document.activeElement).outlineStyle === 'solid'");
    });
  });
}
