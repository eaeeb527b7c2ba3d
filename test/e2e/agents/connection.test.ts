// Browser tests of an agent's connection: each type, connection test, secrets never shown.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { assertAccessible } from "../../support/accessible.ts";
import {
  type AgentServer,
  completions,
  failing,
  flowise,
  httpAgent,
  langflow,
  n8nChat,
  n8nWebhook,
  startAgentServer,
} from "../../support/agent-server.ts";
import { makeAgent, type Owner } from "../../support/app.ts";
import { assertReflows, becomesFocused, useBrowser } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";

const browser = useBrowser();
let agentServer: AgentServer;
before(async () => {
  agentServer = await startAgentServer();
});
after(() => agentServer.close());

/** What the types of connections have apart. */
type Stored = {
  url: string;
  kind?: string;
  product?: string;
  reply?: { kind: string; pointer?: string };
  concurrency: number;
  headers: { name: string; set?: boolean }[];
};

/** The settings of a new agent of this type. */
async function open(type: "http_api" | "workflow" | "flow_builder") {
  const owner: Owner = await browser.service.signUp();
  const agent = await makeAgent(owner, { type });
  const path = `/projects/${owner.projectId}/agents/${agent.id}/settings`;
  const window = await browser.openAs(owner, { path });
  const section = window.page.getByRole("region", { name: "Connection" });
  await section.getByRole("button", { name: "Save connection" }).waitFor();
  const stored = async () =>
    (await owner.client.read(`/api/agents/${agent.id}/connection`)).connection as Stored | null;
  return { ...window, section, stored };
}

test("an HTTP agent can be tested and connected, and its secret is stored but not shown", async () => {
  const { page, section, stored, complaints } = await open("http_api");
  agentServer.script = httpAgent;
  await section.getByLabel("URL").fill(`${agentServer.url}/chat`);
  await section.getByRole("button", { name: "Add header" }).click();
  await section.getByLabel("Name of header 1").fill("Authorization");
  await section.getByLabel("Value of Authorization").fill("Bearer hidden");
  await section.getByLabel("Test message").fill("Where is my order?");
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("The agent replied.", { exact: true }).waitFor();
  await section.getByText("You said: Where is my order?").waitFor();
  assert.equal(agentServer.requests.at(-1)!.headers.authorization, "Bearer hidden");
  await eventually(async () => assert.equal(await stored(), null, "what is tried is not saved"));

  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await becomesFocused(section.getByRole("button", { name: "Save connection" }));
  await eventually(async () =>
    assert.equal(await section.getByLabel("Value of Authorization").inputValue(), ""),
  );
  await eventually(async () =>
    assert.equal(
      await section.getByLabel("Value of Authorization").getAttribute("placeholder"),
      "Stored; type to replace it",
    ),
  );
  await page.reload();
  await section.getByLabel("Concurrent runs").fill("3");
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await eventually(async () => assert.equal((await stored())!.concurrency, 3));
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("You said: Hello").waitFor();
  assert.equal(agentServer.requests.at(-1)!.headers.authorization, "Bearer hidden");

  agentServer.script = failing;
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("answered with status 500").waitFor();
  await section.getByText("I am out of order.").waitFor();
  await assertAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await assertReflows(page);
  assert.deepEqual(complaints, []);
});

test("the reply of an agent that answers 202 can be read from its trace", async () => {
  const { page, section, stored } = await open("http_api");
  agentServer.script = (_request, response) => response.writeHead(202).end("started");
  await section.getByLabel("URL").fill(`${agentServer.url}/chat`);
  await section.getByRole("radio", { name: /^In the trace/ }).check();
  await section.getByRole("button", { name: "Send test message" }).click();
  await section
    .getByText("The agent accepted the message. In runs, its reply is read from the trace.")
    .waitFor();
  await section.getByLabel("Wait for the trace (seconds)").fill("0");
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByText("Wait at least 1 s: the reply is in the trace.").waitFor();
  await section.getByLabel("Wait for the trace (seconds)").fill("60");
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await eventually(async () => assert.deepEqual((await stored())!.reply, { kind: "trace" }));
});

test("errors appear at their fields, headers and pointers included, and the first field has the focus", async () => {
  const { page, section, stored } = await open("http_api");
  await section.getByLabel("URL").fill("https://agent.example.com/chat");
  await section.getByRole("button", { name: "Add header" }).click();
  await becomesFocused(section.getByLabel("Name of header 1"));
  await section.getByLabel("Name of header 1").fill("not a name");
  await section.getByLabel("Body").fill('{"q": {{input}}}');
  await section.getByLabel("Pointer", { exact: true }).fill("reply");
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByText("Not a valid header name.").waitFor();
  await section.getByText("Not valid JSON once filled in.").waitFor();
  await section.getByText("Not a JSON pointer").waitFor();
  const focused = "document.activeElement.getAttribute('aria-label')";
  await eventually(async () => assert.equal(await page.evaluate(focused), "Name of header 1"));
  await assertAccessible(page);
  await section.getByRole("button", { name: "Remove not a name" }).click();
  await becomesFocused(section.getByRole("button", { name: "Add header" }));
  await section.getByRole("button", { name: "Use the chat completions format" }).click();
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await eventually(async () => assert.equal((await stored())!.reply?.pointer, "/choices/0/message/content"));
  await section.getByLabel("Wait for the trace (seconds)").fill("1000");
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByText(/less than or equal to 120/).waitFor();
});

test("a private URL is rejected with the setting that allows it, and another host asks for the secret again", async () => {
  const { section } = await open("http_api");
  agentServer.script = completions;
  await section.getByLabel("URL").fill("http://10.0.0.1/chat");
  await section.getByRole("button", { name: "Add header" }).click();
  await section.getByLabel("Name of header 1").fill("X-Key");
  await section.getByLabel("Value of X-Key").fill("hidden");
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("SVC_ALLOW_PRIVATE_TARGETS=10.0.0.1").waitFor();
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByRole("button", { name: "Remove connection…" }).waitFor();
  await section.getByLabel("URL").fill(agentServer.url);
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("Enter this secret again").waitFor();
});

test("a secret encrypted with another key is asked for again at its field", async () => {
  const { page, section, stored } = await open("http_api");
  await section.getByLabel("URL").fill(agentServer.url);
  await section.getByRole("button", { name: "Add header" }).click();
  await section.getByLabel("Name of header 1").fill("X-Key");
  await section.getByLabel("Value of X-Key").fill("hidden");
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByRole("button", { name: "Remove connection…" }).waitFor();
  await browser.service.db.pool.query("update agent_connections set secrets = 'of another key'");
  await page.reload();
  await section.getByText("Encrypted with another key. Enter it again.").waitFor();
  await section.getByLabel("Value of X-Key").fill("hidden");
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await eventually(async () => assert.equal((await stored())!.headers[0]!.set, true));
  await section.getByRole("checkbox", { name: "X-Key is secret" }).uncheck();
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByText("Enter a value.").waitFor();
});

test("a workflow can be called by its chat trigger or its webhook", async () => {
  const { page, section, stored } = await open("workflow");
  agentServer.script = n8nChat;
  await section.getByLabel("Chat URL").fill(`${agentServer.url}/webhook/abc/chat`);
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText(/said: Hello/).waitFor();
  await section.getByLabel("Webhook", { exact: true }).check();
  agentServer.script = n8nWebhook;
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("You said: Hello").waitFor();
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  const { kind, reply } = (await stored())!;
  assert.deepEqual([kind, reply], ["webhook", { kind: "auto" }]);
});

test("a flow of Langflow or Flowise can be called by its ID", async () => {
  const { page, section, stored } = await open("flow_builder");
  await section.getByLabel("Server").fill(agentServer.url);
  await section.getByLabel("Flow ID").fill("flow-1");
  await section.getByRole("button", { name: "Add header" }).click();
  await section.getByLabel("Name of header 1").fill("Authorization");
  await section.getByLabel("Value of Authorization").fill("Bearer flowise-key");
  agentServer.script = flowise;
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("You said: Hello").waitFor();
  await section.getByLabel("Langflow").check();
  await section.getByLabel("Name of header 1").fill("x-api-key");
  await section.getByLabel("Value of x-api-key").fill("langflow-key");
  agentServer.script = langflow;
  await section.getByRole("button", { name: "Send test message" }).click();
  await section.getByText("You said: Hello").waitFor();
  await section.getByRole("button", { name: "Save connection" }).click();
  await page.getByText("Connection saved").waitFor();
  await eventually(async () => assert.equal((await stored())!.product, "langflow"));
});

test("a connection is removed after confirmation, and another agent type needs another connection", async () => {
  const { page, section, stored } = await open("workflow");
  await section.getByLabel("Chat URL").fill("https://n8n.example.com/webhook/1/chat");
  await section.getByRole("button", { name: "Save connection" }).click();
  await section.getByRole("button", { name: "Remove connection…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Remove connection" });
  await assertAccessible(page);
  await dialog.getByRole("button", { name: "Remove connection" }).click();
  await page.getByText("Connection removed").waitFor();
  await becomesFocused(page.getByRole("main"));
  await eventually(async () => assert.equal(await section.getByLabel("Chat URL").inputValue(), ""));
  await eventually(async () => assert.equal(await stored(), null));
  await page.getByLabel("HTTP API").check();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await section.getByLabel("Body").waitFor();
  await eventually(async () => assert.equal(await section.getByLabel("Chat URL").count(), 0));
});
