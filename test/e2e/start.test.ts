// Get started: a newcomer's first attempts are refused, explained and mended, until the first trace is seen and judged.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import type { Agent } from "../../src/model/agent.ts";
import { makeAgent, makeKey, type Owner } from "../support/app.ts";
import {
  assertAccessible,
  assertReflows,
  signIn,
  startTestBrowser,
  type TestBrowser,
} from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { exportSpans, openExporter, recordSpans } from "../support/exporters.ts";
import { linkIn, type MailServer, startMailServer } from "../support/mail-server.ts";
import { freshDatabase } from "../support/postgres.ts";
import { send } from "../support/send.ts";
import { startTestService } from "../support/service.ts";

const run = promisify(execFile);

let mails: MailServer;
let browser: TestBrowser;
before(async () => {
  mails = await startMailServer();
  browser = await startTestBrowser({ config: { smtpUrl: mails.url, debounceMs: 100 } });
});
after(async () => {
  await browser?.close();
  await mails.close();
});

/** Where what is sent is told of. */
const panel = (page: Page) => page.getByRole("region", { name: "4. See it here" });
const snippet = (page: Page) => page.locator("figure pre");
const startOf = ({ projectId, id }: Agent) => `/projects/${projectId}/agents/${id}/start`;

async function open(agent: Agent, owner: Owner, query = "") {
  const window = await browser.open();
  await window.context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await signIn(window.page, owner);
  await window.page.goto(startOf(agent) + query);
  await window.page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  return window;
}

/** An account of its own with an agent, and the page that is open on it. */
async function newcomer(fields: Partial<Agent> = {}, query = "") {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop", ...fields });
  return { owner, agent, ...(await open(agent, owner, query)) };
}

const isListening = (page: Page) => panel(page).getByText("whatever is sent shows here at once").waitFor();

/** Makes a key through the page; its text. */
async function makeKeyHere(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Make a key", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "New key" });
  await dialog.getByLabel("Name", { exact: true }).fill("first");
  await dialog.getByRole("button", { name: "Make key" }).click();
  return page.getByLabel("The key").inputValue();
}

/** What the snippet's button copies. */
async function copySnippet(page: Page): Promise<string> {
  await page.locator("figure").getByRole("button", { name: "Copy", exact: true }).click();
  await page.locator("figure").getByRole("button", { name: "Copied" }).waitFor();
  return page.evaluate<string>("navigator.clipboard.readText()");
}

const inShell = async (text: string) => (await run("sh", ["-c", text])).stdout;

test("a newcomer signs up, is told why the first trace is refused, verifies, and sees it received and judged", async () => {
  const email = "newcomer@example.com";
  const { page, context, complaints } = await browser.open();
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: browser.origin });
  await page.goto("/sign-up");
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await page.getByRole("button", { name: "Make account" }).click();
  await page.getByRole("button", { name: "New agent" }).click();
  await page.getByRole("dialog").getByLabel("Name", { exact: true }).fill("Shop");
  await page.getByRole("button", { name: "Make agent" }).click();
  await page.getByRole("heading", { level: 1, name: "Get started" }).waitFor();
  await page.getByText("every trace is refused with 403").waitFor();
  await isListening(page);
  await assertAccessible(page);
  const key = await makeKeyHere(page);
  const command = await copySnippet(page);
  assert.ok(command.includes(key));

  assert.match(await inShell(command), /^HTTP\/1.1 403 /);
  await panel(page).getByText("Refused just now").waitFor();
  await panel(page).getByText("EMAIL_NOT_VERIFIED").waitFor();
  await panel(page).getByText(email).waitFor();
  await assertAccessible(page);

  const mail = await context.newPage();
  const { source } = await eventually(
    () => mails.mails.find(({ to }) => to.includes(email)) ?? assert.fail(),
  );
  await mail.goto(linkIn(source));
  await mail.getByRole("button", { name: "Confirm email address" }).click();
  await mail.getByRole("heading", { name: "Your address is verified" }).waitFor();
  await mail.close();
  await panel(page).getByText("Existing keys work now").waitFor();
  await page.getByText("every trace is refused with 403").waitFor({ state: "detached" });

  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const agentId = new URL(page.url()).pathname.split("/").at(-2)!;
  const made = await browser.service.client.request(
    "POST",
    `/api/agents/${agentId}/tests`,
    {
      name: "Answers",
      passiveBehavior: "always_run",
      turns: [{ input: "Hello" }],
      assertions: [{ type: "http_status", expected_status: 200 }],
    },
    { cookie },
  );
  assert.equal(made.status, 201);
  assert.match(await inShell(command), /^HTTP\/1.1 201 /);
  await panel(page).getByText("First trace received").waitFor();
  await panel(page).getByText("2 spans").waitFor();
  await panel(page).getByText("Passed").waitFor();
  await assertAccessible(page);
  await panel(page).getByRole("link", { name: "Open the trace" }).click();
  await page.waitForURL(/\/traces\/[0-9a-f-]{36}$/);
  assert.deepEqual(complaints, []);
});

test("an exporter's wrong service name is offered as the agent's, and the next export is received", async () => {
  const { page, owner, agent } = await newcomer();
  await isListening(page);
  const { key } = await makeKey(owner);
  const exporter = openExporter("protobuf", { url: browser.service.url, key });
  const spans = () => recordSpans("shop-bot", { name: "chat" });
  assert.ok(await exportSpans(exporter, spans()));
  await panel(page).getByText("Refused just now").waitFor();
  await panel(page).getByText("OTLP_PLATFORM_NOT_FOUND").waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  await assertAccessible(page);
  await panel(page).getByRole("button", { name: "Use “shop-bot” as this agent’s service name" }).click();
  await panel(page).getByText("Now send again").waitFor();
  const { body } = await owner.client.get(`/api/agents/${agent.id}`).expect(200);
  assert.equal(body.otlpServiceName, "shop-bot");
  assert.equal(await exportSpans(exporter, spans()), undefined);
  await panel(page).getByText("First trace received").waitFor();
  await panel(page).getByText("One was refused just now").waitFor();
  await exporter.shutdown();
});

test("a refusal from before the page was opened is shown, and another agent's is not", async () => {
  const owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { name: "Shop", otlpServiceName: "shop" });
  const other = await makeAgent(owner, { name: "Other", otlpServiceName: "other" });
  const { key } = await makeKey(owner, { access: "granular", agentIds: [agent.id] });
  const exporter = openExporter("json", { url: browser.service.url, key });
  assert.ok(await exportSpans(exporter, recordSpans("other", { name: "chat" })));
  await eventually(async () => {
    const { body } = await owner.client.get(`/api/projects/${owner.projectId}/ingestion`).expect(200);
    assert.equal(body.items.length, 1);
  });
  const { page } = await open(other, owner);
  await panel(page).getByText("OTLP_PLATFORM_NOT_ALLOWED").waitFor();
  await panel(page).getByText("svc_...").waitFor();
  await panel(page).getByRole("button", { name: "Make a key for this agent" }).waitFor();
  await assertAccessible(page);
  await page.goto(startOf(agent));
  await panel(page).getByText("Waiting for the first trace").waitFor();
  await isListening(page);
  assert.equal(await panel(page).getByText("OTLP_PLATFORM_NOT_ALLOWED").count(), 0);
  await exporter.shutdown();
});

test("every refusal is explained in words, whatever was sent", async () => {
  const { page, owner, agent } = await newcomer({ otlpServiceName: "shop" });
  await isListening(page);
  const { key } = await makeKey(owner);
  const to = { url: browser.service.url, key };
  const exporter = openExporter("json", to);
  const refusals: [code: string, words: string, sent: () => Promise<unknown>][] = [
    ["VALIDATION_ERROR", "name the fields", () => send(to, { body: "{" })],
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
  for (const [code, words, sent] of refusals) {
    await sent();
    await panel(page).getByRole("definition").filter({ hasText: code }).waitFor();
    await panel(page).getByText(words).first().waitFor();
  }
  await panel(page).getByText("export OTEL_SERVICE_NAME='shop'").waitFor();
  await exporter.shutdown();
  assert.equal((await owner.client.get(`/api/agents/${agent.id}/traces`).expect(200)).body.items.length, 0);
});

test("a sample is received before anything is integrated, and leads to a test of its own", async () => {
  const { page, complaints } = await newcomer();
  await panel(page).getByRole("button", { name: "Send a sample trace" }).click();
  await panel(page).getByText("Sample trace received").waitFor();
  await panel(page).getByText("3 spans").waitFor();
  await panel(page).getByText("Not evaluated").waitFor();
  await assertAccessible(page);
  await panel(page).getByRole("link", { name: "Write a test from it" }).click();
  await page.waitForURL(/\/tests\/new\?trace=[0-9a-f-]{36}$/);
  assert.deepEqual(complaints, []);
});

const hostile = 'it\'s "a" $HOME `id` \\ \n%name% <b> $(x)';

test("every snippet is there with what belongs in it, quoted whatever the service name is", async () => {
  const { page, agent } = await newcomer({ otlpServiceName: hostile }, "?tab=node");
  const key = await makeKeyHere(page);
  const javascript = await copySnippet(page);
  assert.ok(javascript.includes(`serviceName: ${JSON.stringify(hostile)}`));
  await runAsModule(javascript, key);
  await panel(page).getByText("First trace received").waitFor();

  await page.getByRole("link", { name: "Collector" }).click();
  await page.waitForURL(/tab=collector/);
  const yaml = await copySnippet(page);
  assert.ok(yaml.includes(`traces_endpoint: "${browser.origin}/public/traces"`));
  assert.ok(yaml.includes(`x-api-key: "${key}"`));
  const variable = await page.getByText("In the application").locator("code").textContent();
  assert.equal(await inShell(`${variable}\nprintf %s "$OTEL_SERVICE_NAME"`), hostile);
  await assertAccessible(page);

  await page.getByRole("link", { name: "Python" }).click();
  await page.waitForURL(/tab=python/);
  assert.ok((await snippet(page).textContent())!.includes(`"service.name": ${JSON.stringify(hostile)}`));
  await page.goBack();
  await page.waitForURL(/tab=collector/);
  await page.getByRole("link", { name: "curl" }).click();
  const command = await copySnippet(page);
  assert.ok(command.includes(agent.id));
  assert.match(await inShell(command), /^HTTP\/1.1 201 /);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
});

/**
 * Runs the text of the Node snippet with the stock exporter. The SDK's own package stands for itself with what it does
 * to these options: it hands them to the tracer provider that comes with it.
 */
async function runAsModule(text: string, key: string): Promise<void> {
  assert.ok(text.includes(key));
  const folder = await mkdtemp(join(tmpdir(), "onlooker-snippet-"));
  try {
    const installed = join(import.meta.dirname, "..", "..", "node_modules");
    const modules = join(folder, "node_modules", "@opentelemetry");
    const sdk = join(modules, "sdk-node");
    await mkdir(sdk, { recursive: true });
    for (const name of ["api", "exporter-trace-otlp-proto", "sdk-trace", "resources"]) {
      await symlink(join(installed, "@opentelemetry", name), join(modules, name));
    }
    await writeFile(
      join(sdk, "package.json"),
      JSON.stringify({ name: "@opentelemetry/sdk-node", type: "module", exports: "./index.js" }),
    );
    await writeFile(join(sdk, "index.js"), sdkNode);
    await writeFile(join(folder, "first-trace.mjs"), text);
    await run(process.execPath, [join(folder, "first-trace.mjs")]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const sdkNode = `
import { trace } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
export class NodeSDK {
  constructor({ serviceName, traceExporter }) {
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ "service.name": serviceName }),
      spanProcessors: [new SimpleSpanProcessor({ exporter: traceExporter })],
    });
  }
  start() { trace.setGlobalTracerProvider(this.provider); }
  async shutdown() { await this.provider.forceFlush(); await this.provider.shutdown(); }
}`;

test("a key that is only known by its end is named as such, and one made here is gone with the page", async () => {
  const { page, owner } = await newcomer();
  await page.getByText("No key may write to this agent yet").waitFor();
  await page.getByText("svc_… stands where").waitFor();
  const { key } = await makeKey(owner, { name: "production" });
  await page.reload();
  const masked = `svc_...${key.slice(-4)}`;
  await page.getByLabel("Key to send with").waitFor();
  assert.ok((await snippet(page).textContent())!.includes(`x-api-key: ${masked}`));
  const made = await makeKeyHere(page);
  assert.ok((await snippet(page).textContent())!.includes(made));
  await page.reload();
  await page.getByLabel("Key to send with").waitFor();
  assert.equal((await page.content()).includes(made), false);
});

test("a service name is given in place, and one that is taken is said at its field", async () => {
  const { page, owner, agent } = await newcomer({}, "?tab=python");
  await makeAgent(owner, { name: "Other", otlpServiceName: "taken" });
  await page.getByText("This agent has no service name yet").waitFor();
  const field = page.getByLabel("OTLP service name");
  assert.equal(await field.inputValue(), "shop");
  await field.fill("taken");
  await page.getByRole("button", { name: "Save service name" }).click();
  await page.locator(".field-fault").waitFor();
  assert.equal(await field.getAttribute("aria-invalid"), "true");
  await field.fill("shop-bot");
  await page.getByRole("button", { name: "Save service name" }).click();
  await page.getByText("This agent has no service name yet").waitFor({ state: "detached" });
  assert.ok((await snippet(page).textContent())!.includes('"service.name": "shop-bot"'));
  assert.equal((await owner.client.get(`/api/agents/${agent.id}`)).body.otlpServiceName, "shop-bot");
});

test("where no stream of events comes through, refusals and traces are seen all the same", async () => {
  const { page, owner, agent } = await newcomer();
  await page.route("**/api/events*", route => route.abort());
  await page.reload();
  await panel(page).getByText("Looking every 5 seconds").waitFor();
  const { key } = await makeKey(owner);
  await send({ url: browser.service.url, key }, { body: { resourceSpans: [] } });
  await panel(page).getByText("OTLP_NO_SPANS").waitFor();
  await send(
    { url: browser.service.url, key },
    { body: { platformId: agent.id, spans: [{ span_id: "1", name: "chat" }] } },
  );
  await panel(page).getByText("First trace received").waitFor();
});

test("a hidden tab has no stream, and reads what it missed once it is looked at again", async () => {
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

test("a restart of the server is survived: the page says that it is away, and hears again by itself", async () => {
  const database = await freshDatabase();
  const first = await startTestService({ databaseUrl: database.url });
  const { port } = new URL(first.url);
  const { page } = await browser.open({ baseURL: `http://localhost:${port}` });
  await signIn(page, first.owner);
  await page.goto(startOf(first.agent));
  await isListening(page);
  await first.stop();
  await panel(page).getByText("Looking every 5 seconds").waitFor();
  const second = await startTestService({ databaseUrl: database.url, config: { port: Number(port) } });
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

test("a browser has so few streams that its requests always find a connection", async () => {
  const { page, context, agent } = await newcomer();
  await isListening(page);
  const pages = [page];
  for (let more = 0; more < 7; more++) {
    const another = await context.newPage();
    pages.push(another);
    await another.goto(startOf(agent));
    await panel(another)
      .getByText(/whatever is sent|Looking every 5 seconds/)
      .waitFor();
  }
  const listening = await Promise.all(
    pages.map(one => panel(one).getByText("whatever is sent shows here at once").count()),
  );
  assert.equal(
    listening.reduce((sum, count) => sum + count),
    3,
  );
  await panel(pages.at(-1)!).getByRole("button", { name: "Send a sample trace" }).click();
  await Promise.all(pages.map(one => panel(one).getByText("Sample trace received").waitFor()));
});
