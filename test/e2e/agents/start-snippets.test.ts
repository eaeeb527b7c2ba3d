// Get started's snippets: their values are filled in and escaped, and the copied text runs.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { assertAccessible } from "../../support/accessible.ts";
import { makeAgent, makeKey } from "../../support/app.ts";
import { assertReflows, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { runInShell } from "../../support/shell.ts";
import {
  copySnippet,
  makeKeyHere,
  openStartPages,
  panel,
  snippet,
  startOf,
} from "../../support/start-page.ts";

const browser = useBrowser();

const { newcomer } = openStartPages(browser);

const run = promisify(execFile);

const hostile = 'it\'s "a" $HOME `id` \\ \n%name% <b> $(x)';

test("every snippet has its values filled in and runs, even with a hostile service name", async () => {
  const { page, agent } = await newcomer({ otlpServiceName: hostile }, "?tab=node");
  const key = await makeKeyHere(page);
  const javascript = await copySnippet(page);
  assert.ok(javascript.includes(`serviceName: ${JSON.stringify(hostile)}`));
  await runAsModule(javascript, key);
  // The stand-in of the SDK keeps no context, so each of the two spans is a trace.
  await panel(page).getByText("Latest trace received").waitFor();

  await page.getByRole("link", { name: "Collector" }).click();
  await page.waitForURL(/tab=collector/);
  const yaml = await copySnippet(page);
  assert.ok(yaml.includes(`traces_endpoint: "${browser.origin}/public/traces"`));
  assert.ok(yaml.includes(`x-api-key: "${key}"`));
  const variable = await page.getByText("In the application").locator("code").textContent();
  assert.equal(await runInShell(`${variable}\nprintf %s "$OTEL_SERVICE_NAME"`), hostile);

  await page.getByRole("link", { name: "Python" }).click();
  await page.waitForURL(/tab=python/);
  await eventually(async () =>
    assert.ok((await snippet(page).textContent())!.includes(`"service.name": ${JSON.stringify(hostile)}`)),
  );
  await page.goBack();
  await page.waitForURL(/tab=collector/);
  await page.getByRole("link", { name: "curl" }).click();
  const command = await copySnippet(page);
  assert.ok(command.includes(agent.id));
  assert.match(await runInShell(command), /^HTTP\/1.1 201 /);
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
    const installed = join(import.meta.dirname, "..", "..", "..", "node_modules");
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

test("an existing key is shown masked, and a key created here is gone after a reload", async () => {
  const { page, owner } = await newcomer();
  await page.getByText("No key can write to this agent yet").waitFor();
  await page.getByText("Replace svc_… with your key.").waitFor();
  const { key } = await makeKey(owner, { name: "production" });
  await page.reload();
  const masked = `svc_...${key.slice(-4)}`;
  await page.getByLabel("API key to use").waitFor();
  await eventually(async () =>
    assert.ok((await snippet(page).textContent())!.includes(`x-api-key: ${masked}`)),
  );
  const made = await makeKeyHere(page);
  await eventually(async () => assert.ok((await snippet(page).textContent())!.includes(made)));
  await page.reload();
  await page.getByLabel("API key to use").waitFor();
  assert.equal((await page.content()).includes(made), false);
});

test("a service name can be set on the page, and a duplicate one is reported at its field", async () => {
  const { page, owner, agent } = await newcomer({}, "?tab=python");
  await makeAgent(owner, { name: "Other", otlpServiceName: "taken" });
  await page.getByText("This agent has no service name yet").waitFor();
  const field = page.getByLabel("OTLP service name");
  await eventually(async () => assert.equal(await field.inputValue(), "shop"));
  await field.fill("taken");
  await page.getByRole("button", { name: "Save service name" }).click();
  await page.locator(".field-fault").waitFor();
  await eventually(async () => assert.equal(await field.getAttribute("aria-invalid"), "true"));
  await field.fill("shop-bot");
  await page.getByRole("button", { name: "Save service name" }).click();
  await page.getByText("This agent has no service name yet").waitFor({ state: "detached" });
  await eventually(async () =>
    assert.ok((await snippet(page).textContent())!.includes('"service.name": "shop-bot"')),
  );
  assert.equal((await owner.client.get(`/api/agents/${agent.id}`)).body.otlpServiceName, "shop-bot");
});

test("a framework's lines are filled in, have a link, are opened again, and are chosen from a list in a narrow window", async () => {
  const { page, owner, agent } = await newcomer({ otlpServiceName: "shop" }, "?tab=python-langchain");
  const key = await makeKeyHere(page);
  const shell = page.getByRole("figure", { name: "In your shell" });
  await shell.getByText("pip install langchain langchain-openai").waitFor();
  assert.ok((await shell.textContent())!.includes(`OTEL_EXPORTER_OTLP_TRACES_HEADERS='x-api-key=${key}'`));
  await page.getByText("This agent reads the OpenInference convention.").waitFor();
  await assertAccessible(page);
  await owner.client.patch(`/api/agents/${agent.id}`, { conventions: [] }).expect(200);
  await page.reload();
  await page.getByText("The spans are written in the OpenInference convention.").waitFor();

  await page.getByRole("link", { name: "Pydantic AI" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/tab=python-pydantic-ai/);
  const start = page.getByRole("figure", { name: "At the start of your agent" });
  await start.getByText("Agent.instrument_all()").waitFor();
  await page.getByText("Complete example with conversation and user").click();
  await page.getByRole("figure", { name: "agent.py" }).getByText("agent.run_sync(").waitFor();
  await page.getByText("Our tests run this example with pydantic-ai-slim").waitFor();
  await page.goto(startOf(agent));
  await start.getByText("Agent.instrument_all()").waitFor();

  await page.setViewportSize({ width: 320, height: 640 });
  await page.getByLabel("Framework").selectOption("CrewAI");
  await page.waitForURL(/tab=python-crewai/);
  await page.getByText("Not run by our tests:").waitFor();
  await assertReflows(page);
  await page.getByRole("link", { name: "Node" }).click();
  await page.getByLabel("Framework").selectOption("Vercel AI SDK 7");
  await page.getByText("Checks read these spans as they are.").waitFor();
});
