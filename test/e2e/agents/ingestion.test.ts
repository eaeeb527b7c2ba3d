// The ingestion log: accepted and rejected requests, the reason and the fix for each.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { refusals } from "../../../src/model/refusals.ts";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { canonicalBody, exportedSpan, exportOf } from "../../support/bodies.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { type Sent, send } from "../../support/send.ts";
import { shoot } from "../../support/shoot.ts";
import { resourceSpans } from "../../wire/make-body.ts";

const browser = useBrowser();

/** A signed-in account with the agent "Shop", whose service name is "shop", and a key. */
async function sender() {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop", otlpServiceName: "shop" });
  const { id: keyId, key } = await makeKey(owner, { name: "production" });
  const { page, complaints } = await browser.openAs(owner);
  const path = `/projects/${owner.projectId}/ingestion` as const;
  return {
    ...{ owner, agent, keyId, key, page, complaints, path },
    send: (sent: Sent) => send({ url: browser.service.url, key }, sent),
    /** Opens the page once the log has this many requests. */
    async open(requests: number, query = "") {
      await eventually(async () => {
        const body = await owner.client.read(`/api${path}?limit=200`);
        const sum = body.items.reduce((sum, item) => sum + item.requests, 0);
        assert.equal(sum, requests);
      });
      await page.goto(path + query);
      await page.getByRole("heading", { level: 1, name: "Ingestion log" }).waitFor();
    },
  };
}

const codes = (page: Page) => page.getByRole("region", { name: "By code" });
const services = (page: Page) => page.getByRole("region", { name: "By service name" });
const rows = (page: Page) => page.locator("tbody tr");

test("an empty log says what to do, and a rejected request appears without a reload", async () => {
  const { page, open, send, complaints } = await sender();
  await open(0);
  await page.getByRole("heading", { name: "No requests in the last 7 days" }).waitFor();
  await send({ body: exportOf([exportedSpan()], "shop-bot") });
  await rows(page).getByText("OTLP_PLATFORM_NOT_FOUND").waitFor();
  await codes(page).getByText(refusals.OTLP_PLATFORM_NOT_FOUND[1]).waitFor();
  assert.deepEqual(complaints, []);
});

test("accepted, partly accepted and rejected requests are totaled, and a partial batch lists its reasons", async () => {
  const { page, open, send, agent, complaints } = await sender();
  await send({ body: canonicalBody(agent.id) });
  await send({ body: exportOf([exportedSpan(), exportedSpan({ spanId: "0".repeat(16) })], "shop") });
  await send({
    body: {
      resourceSpans: [resourceSpans("shop", [exportedSpan()]), resourceSpans("strange", [exportedSpan()])],
    },
  });
  await send({ type: "text/plain" });
  await open(5);
  const partial = rows(page).filter({ hasText: "OTLP_ID_INVALID" });
  await partial.getByText("Partly accepted").waitFor();
  await partial.getByText("1 trace rejected").waitFor();
  await rows(page).filter({ hasText: "UNSUPPORTED_MEDIA_TYPE" }).getByText("Rejected").waitFor();
  await rows(page).filter({ hasText: "Accepted" }).first().getByText("production").waitFor();
  await codes(page).getByText(refusals.UNSUPPORTED_MEDIA_TYPE[1]).waitFor();
  await services(page).getByText("No agent with this name").waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("filters are kept in the URL, Back restores them, and an empty result offers to clear them", async () => {
  const { page, open, send, agent, owner, keyId } = await sender();
  const other = await makeKey(owner, { name: "staging" });
  await send({ body: canonicalBody(agent.id) });
  await send({ body: exportOf([exportedSpan()], "shop") });
  await send({ body: { resourceSpans: [] }, key: other.key });
  await open(3);
  await eventually(async () => assert.equal(await rows(page).count(), 3));
  const { href } = new URL(page.url());
  await page.goto(`${href}?time=year&service=nobody`);
  await page.getByText("Time: “year” is not a known value.", { exact: true }).waitFor();
  await page.getByRole("heading", { name: "No matching requests" }).waitFor();
  const clear = page.getByRole("link", { name: "Clear filters" });
  assert.equal(await clear.count(), 1);
  await shoot(page, "ingestion-invalid");
  await clear.click();
  await page.getByText("Invalid filter in the URL").waitFor({ state: "detached" });
  await page.getByLabel("Code", { exact: true }).selectOption("OTLP_NO_SPANS");
  await page.waitForURL(/code=OTLP_NO_SPANS/);
  await rows(page).getByText("staging").waitFor();
  await eventually(async () => assert.equal(await rows(page).count(), 1));
  await page.getByLabel("Key", { exact: true }).selectOption(keyId);
  await page.getByRole("heading", { name: "No matching requests" }).waitFor();
  await page.goBack();
  await rows(page).getByText("staging").waitFor();
  await eventually(async () => assert.equal(await page.getByLabel("Key", { exact: true }).inputValue(), ""));
  await eventually(async () =>
    assert.equal(await page.getByLabel("Code", { exact: true }).inputValue(), "OTLP_NO_SPANS"),
  );
  await page.getByRole("link", { name: "Clear filters" }).first().click();
  await eventually(async () => assert.equal(await rows(page).count(), 3));
  await services(page).getByRole("link", { name: "shop", exact: true }).click();
  await page.waitForURL(/service=shop/);
  await eventually(async () => assert.equal(await rows(page).count(), 1));
  await page.getByLabel("Time", { exact: true }).selectOption("hour");
  await page.waitForURL(/time=hour/);
  await page.reload();
  await eventually(async () => assert.equal(await rows(page).count(), 1));
  await eventually(async () =>
    assert.equal(await page.getByLabel("Service name", { exact: true }).inputValue(), "shop"),
  );
});

test("the time filter hides older requests, also from the totals", async () => {
  const { page, open, send, owner } = await sender();
  await send({ body: { resourceSpans: [] } });
  await open(1);
  await browser.service.db.pool.query(
    `update ingestion_minutes set at = at - interval '2 hours', id = id_at(now() - interval '2 hours', id)
      where project_id = $1`,
    [owner.projectId],
  );
  await page.reload();
  await rows(page).getByText("OTLP_NO_SPANS").waitFor();
  await page.getByLabel("Time", { exact: true }).selectOption("hour");
  await page.getByRole("heading", { name: "No matching requests" }).waitFor();
  await codes(page).getByText("No requests in this period").waitFor();
  await page.getByLabel("Time", { exact: true }).selectOption("day");
  await rows(page).getByText("OTLP_NO_SPANS").waitFor();
});

test("an unknown service name can be assigned to an agent, and its exports are accepted from then on", async () => {
  const { page, open, send, owner } = await sender();
  const name = 'it\'s <b>"new"</b> $x';
  await makeAgent(owner, { name: "Nameless" });
  await send({ body: exportOf([exportedSpan()], name) });
  await send({ body: exportOf([exportedSpan()], "unknown_service:node") });
  await open(2);
  await services(page).getByText("OTEL_SERVICE_NAME").waitFor();
  await page.getByRole("button", { name: `Assign to an agent: ${name}` }).click();
  const dialog = page.getByRole("dialog", { name: "Assign service name" });
  await eventually(async () =>
    assert.equal(await dialog.getByRole("radio", { name: "Nameless" }).isChecked(), true),
  );
  await dialog.getByRole("radio", { name: /^Shop/ }).check();
  await dialog.getByText("Replaces").waitFor();
  await assertAccessible(page);
  await dialog.getByRole("radio", { name: "Nameless" }).check();
  await dialog.getByRole("button", { name: "Assign name" }).click();
  await dialog.waitFor({ state: "detached" });
  await services(page).getByRole("link", { name: "Nameless" }).waitFor();
  assert.equal((await send({ body: exportOf([exportedSpan()], name) })).status, 200);
});

test("Show more loads the next page", async () => {
  const { page, open, send, owner } = await sender();
  await send({ body: { resourceSpans: [] } });
  await open(1);
  await browser.service.db.pool.query(
    `insert into ingestion_minutes (id, project_id, at, code, key_id, service_name, agent_id, requests, spans, reasons)
      select id_at(now() - n * interval '1 minute', id), project_id, at - n * interval '1 minute', code, key_id, service_name,
        agent_id, requests, spans, reasons
      from ingestion_minutes, generate_series(1, 60) n where project_id = $1`,
    [owner.projectId],
  );
  await page.reload();
  await eventually(async () => assert.equal(await rows(page).count(), 50));
  await page.getByRole("button", { name: "Show more" }).click();
  await eventually(async () => assert.equal(await rows(page).count(), 61));
});

test("a log that fails to load shows the error, and Retry loads it", async () => {
  const { page, open } = await sender();
  await page.route("**/api/projects/*/ingestion/summary*", route =>
    route.fulfill({
      status: 500,
      json: { code: "INTERNAL", message: "Something went wrong.", requestId: "r-1" },
    }),
  );
  await open(0);
  await page.getByRole("alert").getByText("r-1").waitFor();
  await page.unroute("**/api/projects/*/ingestion/summary*");
  await page.getByRole("button", { name: "Retry" }).click();
  await page.getByRole("heading", { name: "No requests in the last 7 days" }).waitFor();
});
