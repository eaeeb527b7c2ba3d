// Get started shows requests live, with and without an event stream.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeKey } from "../../support/app.ts";
import { useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { freePort } from "../../support/free-port.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send } from "../../support/send.ts";
import { startTestService } from "../../support/service.ts";
import { isListening, openStartPages, panel, startOf } from "../../support/start-page.ts";

const browser = useBrowser();

const { newcomer } = openStartPages(browser);

test("without an event stream, rejected requests and traces still appear", async () => {
  const { page, owner, agent } = await newcomer();
  await page.route("**/api/events*", route => route.abort());
  await page.reload();
  await panel(page).getByText("Checking every 5 seconds").waitFor();
  const { key } = await makeKey(owner);
  await send({ url: browser.service.url, key }, { body: { resourceSpans: [] } });
  await panel(page).getByText("OTLP_NO_SPANS").waitFor();
  await send(
    { url: browser.service.url, key },
    { body: { platformId: agent.id, spans: [{ span_id: "1", name: "chat" }] } },
  );
  await panel(page).getByText("First trace received").waitFor();
  await send(
    { url: browser.service.url, key },
    { body: { platformId: agent.id, spans: [{ span_id: "2", name: "a later chat" }] } },
  );
  await panel(page).getByText("Latest trace received").waitFor();
});

test("a hidden tab closes its event stream, and catches up when it is shown again", async () => {
  const { page, owner, agent } = await newcomer();
  await isListening(page);
  const show = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));`,
    );
  await show(true);
  await panel(page).getByText("Connecting…").waitFor();
  const { key } = await makeKey(owner);
  const body = { platformId: agent.id, spans: [{ span_id: "1", name: "chat" }] };
  assert.equal((await send({ url: browser.service.url, key }, { body })).status, 201);
  await show(false);
  await isListening(page);
  await panel(page).getByText("First trace received").waitFor();
});

test("when the server restarts, the page says that it is not connected and then reconnects", async () => {
  const database = await freshDatabase();
  const port = await freePort();
  const first = await startTestService({ databaseUrl: database.url, config: { port } });
  const { page } = await browser.openAs(first.owner, { baseURL: `http://localhost:${port}` });
  await page.goto(startOf(first.agent));
  await isListening(page);
  await first.stop();
  await panel(page).getByText("Checking every 5 seconds").waitFor();
  const second = await startTestService({ databaseUrl: database.url, config: { port } });
  try {
    await isListening(page);
    const body = { platformId: first.agent.id, spans: [{ span_id: "1", name: "chat" }] };
    assert.equal((await send({ url: second.url, key: first.key }, { body })).status, 201);
    await panel(page).getByText("First trace received").waitFor();
  } finally {
    await page.close();
    await second.stop();
    await database.drop();
  }
});

test("at most 3 tabs of a browser hold an event stream, so that requests always find a connection", async () => {
  const { page, context, agent } = await newcomer();
  await isListening(page);
  const pages = [page];
  for (let more = 0; more < 6; more++) {
    const another = await context.newPage();
    pages.push(another);
    await another.goto(startOf(agent));
    await panel(another)
      .getByText(/requests appear here|Checking every 5 seconds/)
      .waitFor();
  }
  await eventually(async () => {
    const listening = await Promise.all(
      pages.map(one => panel(one).getByText("requests appear here immediately").count()),
    );
    assert.equal(
      listening.reduce((sum, count) => sum + count),
      3,
    );
  });
  await panel(pages.at(-1)!).getByRole("button", { name: "Send sample trace" }).click();
  await Promise.all(pages.map(one => panel(one).getByText("Sample trace received").waitFor()));
});
