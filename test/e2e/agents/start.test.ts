// Get started: rejected first requests are explained and fixed, until the first trace is received and evaluated.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey, makeTest } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { exportSpans, openExporter, recordSpans } from "../../support/exporters.ts";
import { linkIn, type MailServer, startMailServer } from "../../support/mail-server.ts";
import { send } from "../../support/send.ts";
import { runInShell } from "../../support/shell.ts";
import {
  copySnippet,
  isListening,
  makeKeyHere,
  openStartPages,
  panel,
  startOf,
  step,
} from "../../support/start-page.ts";

let mails: MailServer;
const browser = useBrowser(async () => {
  mails = await startMailServer();
  return { config: { smtpUrl: mails.url, debounceMs: 100 } };
});
after(() => mails.close());

const { open, newcomer } = openStartPages(browser);

test("a new user sees why the first trace is rejected, verifies the email, and sees a trace evaluated", async () => {
  const email = "newcomer@example.com";
  const { page, context, complaints } = await browser.open();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await page.goto("/sign-up");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  await page.getByText("Traces are rejected (403 EMAIL_NOT_VERIFIED) until").waitFor();
  await isListening(page);
  const key = await makeKeyHere(page);
  const command = await copySnippet(page);
  assert.ok(command.includes(key));

  assert.match(await runInShell(command), /^HTTP\/1.1 403 /);
  await panel(page).getByText("Rejected just now").waitFor();
  await panel(page).getByText("EMAIL_NOT_VERIFIED").waitFor();
  await panel(page).getByText(email).waitFor();

  const mail = await context.newPage();
  const { source } = await eventually(
    () => mails.mails.find(({ to }) => to.includes(email)) ?? assert.fail(),
  );
  await mail.goto(linkIn(source));
  await mail.getByRole("button", { name: "Confirm email" }).click();
  await mail.getByRole("heading", { name: "Email verified" }).waitFor();
  await mail.close();
  await panel(page).getByText("Your keys work now").waitFor();
  await page.getByText("Traces are rejected (403 EMAIL_NOT_VERIFIED) until").waitFor({ state: "detached" });

  assert.match(await runInShell(command), /^HTTP\/1.1 201 /);
  await panel(page).getByText("First trace received").waitFor();
  await panel(page).getByText("2 spans").waitFor();
  await panel(page).getByText("Not evaluated", { exact: true }).waitFor();
  await assertAccessible(page);
  await step(page, "4. First test").getByRole("button", { name: "Create test" }).click();
  await step(page, "4. First test").getByRole("link", { name: "Gives a reply" }).waitFor();
  const verdict = step(page, "5. First verdict");
  await verdict.getByText("Active test cases apply to new traces only.").waitFor();
  assert.match(await runInShell(command), /^HTTP\/1.1 201 /);
  await panel(page).getByText("Passed").waitFor();
  await verdict.getByText("Passed").waitFor();
  const steps = page.getByRole("list", { name: "Steps" }).getByRole("listitem");
  await eventually(async () => assert.equal(await steps.filter({ hasText: "Done" }).count(), 5));
  await verdict.getByRole("link", { name: "Open evaluation" }).click();
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}$/);
  assert.deepEqual(complaints, []);
});

test("a new key stays on Get started while other pages are open, and a reload asks until it is copied", async () => {
  const { page } = await newcomer();
  const key = await makeKeyHere(page);
  await page.getByRole("link", { name: "run test cases" }).click();
  await page.getByRole("heading", { level: 1, name: "Runs" }).waitFor();
  await page.goBack();
  await eventually(async () =>
    assert.equal(await page.getByLabel("API key", { exact: true }).inputValue(), key),
  );
  const asked = page.waitForEvent("dialog");
  // From inside of the page: page.reload() would wait 30 s for a page that stays.
  void page.evaluate("location.reload()").catch(() => {});
  const dialog = await asked;
  assert.equal(dialog.type(), "beforeunload");
  await dialog.dismiss();
  assert.ok((await copySnippet(page)).includes(key));
  await page.reload();
  await page.getByLabel("API key to use").waitFor();
  assert.equal((await page.content()).includes(key), false);
});

test("signing up with the email of an account signs in if the password is right, and otherwise says neither", async () => {
  const owner = await browser.service.signUp();
  const { page, complaints } = await browser.open();
  const signUp = async (password: string) => {
    await page.goto("/sign-up");
    await page.getByLabel("Email").fill(owner.email);
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Create account" }).click();
  };
  await signUp("another password");
  await page.getByRole("heading", { name: "Check your email" }).waitFor();
  await page.getByText(`The email we sent to ${owner.email} says how to continue.`).waitFor();
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  const notice = await eventually(
    () =>
      mails.mails.find(
        ({ to, source }) =>
          to.includes(owner.email) && source.includes("Subject: You already have an account"),
      ) ?? assert.fail(),
  );
  assert.equal(linkIn(notice.source), `${browser.origin}/sign-in`);
  await signUp(owner.password);
  await page.getByRole("heading", { level: 1, name: "Agents" }).waitFor();
  assert.deepEqual(complaints, []);
});

test("an unknown service name can be assigned to the agent with one click, and the next export is received", async () => {
  const { page, owner, agent } = await newcomer();
  await isListening(page);
  const { key } = await makeKey(owner);
  const exporter = openExporter("protobuf", { url: browser.service.url, key });
  const spans = () => recordSpans("shop-bot", { name: "chat" });
  await eventually(async () => assert.ok(await exportSpans(exporter, spans())));
  await panel(page).getByText("Rejected just now").waitFor();
  await panel(page).getByText("OTLP_PLATFORM_NOT_FOUND").waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await panel(page).getByRole("button", { name: "Use “shop-bot” as this agent’s service name" }).click();
  await panel(page).getByText("Send the trace again.").waitFor();
  const body = await owner.client.read(`/api/agents/${agent.id}`);
  assert.equal(body.otlpServiceName, "shop-bot");
  await eventually(async () => assert.equal(await exportSpans(exporter, spans()), undefined));
  await panel(page).getByText("First trace received").waitFor();
  await panel(page).getByText("A request was rejected just now").waitFor();
  await exporter.shutdown();
});

test("a request rejected before the page was opened is shown, unless it concerns another agent", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop", otlpServiceName: "shop" });
  const other = await makeAgent(owner, { name: "Other", otlpServiceName: "other" });
  const { key } = await makeKey(owner, { access: "granular", agentIds: [agent.id] });
  const exporter = openExporter("json", { url: browser.service.url, key });
  await eventually(async () =>
    assert.ok(await exportSpans(exporter, recordSpans("other", { name: "chat" }))),
  );
  await eventually(async () => {
    const body = await owner.client.read(`/api/projects/${owner.projectId}/ingestion`);
    assert.equal(body.items.length, 1);
  });
  const { page } = await open(other, owner);
  await panel(page).getByText("OTLP_PLATFORM_NOT_ALLOWED").waitFor();
  await page.reload();
  await panel(page).getByText("OTLP_PLATFORM_NOT_ALLOWED").waitFor();
  await panel(page).getByText("svc_...").waitFor();
  await panel(page).getByRole("button", { name: "New key for this agent" }).waitFor();
  await page.goto(startOf(agent));
  await panel(page).getByText("Waiting for the first trace").waitFor();
  await isListening(page);
  await eventually(async () =>
    assert.equal(await panel(page).getByText("OTLP_PLATFORM_NOT_ALLOWED").count(), 0),
  );
  await exporter.shutdown();
});

test("a request with invalid fields shows where they are and its request ID, here and in the ingestion log", async () => {
  const { page, owner, agent } = await newcomer();
  await isListening(page);
  const { key } = await makeKey(owner);
  const body = { platformId: agent.id, spans: [{ span_id: "1", name: 7, attributes: { "secret name": 1 } }] };
  const { bytes } = await send({ url: browser.service.url, key }, { body });
  const { requestId } = JSON.parse(bytes.toString());
  await panel(page).getByText("spans[0].name").waitFor();
  await panel(page).getByText(requestId).waitFor();
  assert.equal((await page.content()).includes("secret name"), false);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await panel(page).getByRole("link", { name: "Open in ingestion log" }).click();
  // Until the log is shown, the start page has a heading of these words.
  await page.locator("summary").getByText("Latest request").click();
  await page.getByText(requestId).waitFor();
  await page.getByText("spans[0].name").waitFor();
  await assertReflows(page);
});

test("every kind of rejected request is explained", async () => {
  const { page, owner, agent } = await newcomer({ otlpServiceName: "shop" });
  await isListening(page);
  const { key } = await makeKey(owner);
  const to = { url: browser.service.url, key };
  const exporter = openExporter("json", to);
  const rejections: [code: string, words: string, sent: () => Promise<unknown>][] = [
    ["VALIDATION_ERROR", "Fix the fields that issues names", () => send(to, { body: "{" })],
    [
      "CUSTOM_API_PLATFORM_NOT_FOUND",
      "platformId",
      () => send(to, { body: { spans: [{ span_id: "1", name: "a" }] } }),
    ],
    ["UNSUPPORTED_MEDIA_TYPE", "application/json", () => send(to, { type: "text/plain" })],
    ["OTLP_NO_SPANS", "sampler", () => send(to, { body: { resourceSpans: [] } })],
    [
      "OTLP_PLATFORM_NOT_FOUND",
      "unknown_service",
      () => exportSpans(exporter, recordSpans(undefined, { name: "a" })),
    ],
  ];
  for (const [code, words, sent] of rejections) {
    await sent();
    await panel(page).getByRole("definition").filter({ hasText: code }).waitFor();
    await panel(page).getByText(words).first().waitFor();
  }
  await panel(page).getByText("export OTEL_SERVICE_NAME='shop'").waitFor();
  await exporter.shutdown();
  assert.equal((await owner.client.read(`/api/agents/${agent.id}/traces`)).items.length, 0);
});

test("a sample trace can be sent before any integration, and turned into a test case", async () => {
  const { page, complaints } = await newcomer();
  await panel(page).getByRole("button", { name: "Send sample trace" }).click();
  await panel(page).getByText("Sample trace received").waitFor();
  await panel(page).getByText("3 spans").waitFor();
  await panel(page).getByText("Not evaluated", { exact: true }).waitFor();
  await step(page, "4. First test").getByRole("link", { name: "Create test from this trace" }).click();
  await page.waitForURL(/\/tests\/new\?trace=[0-9a-f-]{36}$/);
  assert.deepEqual(complaints, []);
});

test("an agent whose test cases are all disabled shows a link to activate one", async () => {
  const { page, owner, agent } = await newcomer();
  await makeTest(owner, agent.id, { status: "disabled" });
  await panel(page).getByRole("button", { name: "Send sample trace" }).click();
  const test = step(page, "4. First test");
  await test.getByText("This agent has 1 test case, but none applies to live traffic.").waitFor();
  await test.getByRole("link", { name: "Activate one" }).click();
  await page.getByRole("heading", { level: 1, name: "Test cases" }).waitFor();
});
