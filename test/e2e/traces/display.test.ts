// How the list of traces is displayed: failed tests, density, times, columns, and saved views.
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { assertReflows, becomesTrue, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { type StoredTrace, storeTrace } from "../../support/stored-traces.ts";
import { failed, traceLink as link, passed, rowShows, tracesOpener } from "../../support/traces-page.ts";

const browser = useBrowser();

const openTraces = tracesOpener(browser);
const store = (agentId: string, trace: StoredTrace) => storeTrace(browser.service.db, agentId, trace);

test("density and absolute times are kept after a reload", async () => {
  const { page } = await openTraces(agentId =>
    store(agentId, {
      userInput: "long ".repeat(60),
      receivedAt: new Date("2026-03-02T10:20:30Z"),
      run: passed,
    }),
  );
  const heightIs = (height: number) =>
    becomesTrue(page, `document.querySelector(".traces-body > [role=row]").offsetHeight === ${height}`);
  await heightIs(56);
  await page.getByRole("button", { name: "Display" }).click();
  await page.getByRole("radio", { name: "Compact" }).check();
  await heightIs(32);
  await page.getByRole("radio", { name: "Date and time" }).check();
  await page
    .getByRole("table")
    .getByText(/^Mar 2, 2026, \d\d?:20:30/)
    .waitFor();
  await page.reload();
  await heightIs(32);
  await page
    .getByRole("table")
    .getByText(/^Mar 2, 2026, \d\d?:20:30/)
    .waitFor();
});

test("columns are resized by dragging and by keys, and keep their widths after a reload", async () => {
  const { page, complaints } = await openTraces(agentId => store(agentId, { run: passed }));
  const handle = (label: string) => page.getByRole("separator", { name: `Resize ${label}`, exact: true });
  const widthIs = (label: string, pixels: number) =>
    eventually(async () => {
      const { width } = (await page.getByRole("columnheader", { name: label }).boundingBox())!;
      assert.ok(Math.abs(width - pixels) <= 1, `${label} is ${width} wide`);
    });
  await widthIs("Verdict", 216);
  const { x, y, width, height } = (await handle("Verdict").boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 60, y + height / 2, { steps: 4 });
  await page.mouse.up();
  await eventually(async () => {
    const moved = (await page.getByRole("columnheader", { name: "Verdict" }).boundingBox())!.width;
    assert.ok(Math.abs(moved - 276) <= 8, `${moved}`);
  });
  await handle("Duration").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowLeft");
  await widthIs("Duration", 76 + 16);
  await page.keyboard.press("Home");
  await widthIs("Duration", 40);
  await page.reload();
  await widthIs("Duration", 40);
  await handle("Verdict").dblclick();
  await widthIs("Verdict", 216);
  await page.getByRole("button", { name: "Display" }).click();
  await page.getByRole("button", { name: "Reset column widths" }).click();
  await widthIs("Duration", 76);
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("added columns are kept after a reload", async () => {
  const { page, agent } = await openTraces(agentId =>
    store(agentId, { externalId: "order-17", run: failed }),
  );
  await page.getByRole("button", { name: "Display" }).click();
  for (const name of ["External ID", "Path", "Agent", "Tests"]) {
    await page.getByRole("checkbox", { name }).check();
  }
  await assertAccessible(page);
  await page.reload();
  await rowShows(page, "order-17", "OTLP", agent.name, "5");
  await assertReflows(page);
});

test("views are kept with the account: each is a link, and they can be deleted", async () => {
  const { page, path, agent, owner, complaints } = await openTraces(
    async agentId => {
      await store(agentId, { userInput: "the failed one", run: failed });
      await store(agentId, { userInput: "the other one", run: passed });
    },
    { query: "?verdict=failed&within=7d" },
  );
  await link(page, /the failed one/).waitFor();
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByLabel("Save filters as").fill("Broken lately");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Broken lately" }).waitFor();
  await assertAccessible(page);

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy link to view Broken lately" }).click();
  await page.getByText("Copied link").waitFor();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  assert.equal(copied, `${browser.origin}${path}?verdict=failed&within=7d`);

  // Another browser of the same account.
  const { page: other } = await browser.openAs(owner, { path });
  await link(other, /the other one/).waitFor();
  await other.getByRole("button", { name: "Views" }).click();
  await other.getByRole("link", { name: "Broken lately" }).click();
  await link(other, /the other one/).waitFor({ state: "detached" });
  await becomesTrue(other, "location.search === '?verdict=failed&within=7d'");
  await other.getByRole("button", { name: "Broken lately" }).click();
  await other.getByRole("button", { name: "Delete view Broken lately" }).click();
  await other.getByRole("link", { name: "Broken lately" }).waitFor({ state: "detached" });
  await other.getByText("No saved views.").waitFor();
  assert.deepEqual((await owner.client.get(`/api/agents/${agent.id}/trace-views`)).body.items, []);
  assert.deepEqual(complaints, []);
});
