// Every command block of README and docs/ runs as it is written, against one service, or says why it is not run here.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type AgentServer, sendJson, startAgentServer } from "../support/agent-server.ts";
import { makeAgent, makeTest } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { type Block, blocksOf, readPages, root } from "./pages.ts";

let service: TestService;
let agentServer: AgentServer;
let agentId: string;
let token: string;
let folder: string;
before(async () => {
  service = await startTestService();
  agentServer = await startAgentServer((_request, response) =>
    sendJson(response, { reply: "It ships tomorrow." }),
  );
  folder = await mkdtemp(join(tmpdir(), "onlooker-docs-"));
  token = (await service.client.post("/api/access-tokens", { name: "CI" }).expect(201)).body.token;
  agentId = (await makeAgent(service.owner, { name: "The agent of the docs" })).id;
  const callable = service.agent.id; // the docs call it by its name
  const connection = {
    type: "http_api",
    url: agentServer.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  };
  await service.client.put(`/api/agents/${callable}/connection`, connection).expect(200);
  await makeTest(service.owner, callable, {
    name: "Names a day",
    assertions: [{ type: "response_regex", pattern: "tomorrow" }],
  });
});
after(async () => {
  await service.stop();
  await agentServer.close();
  await rm(folder, { recursive: true });
});

/** What the pages leave open is filled in; what would be written into the checkout goes elsewhere. */
function filled(text: string): string {
  return text
    .replaceAll("http://localhost:4000", service.url)
    .replaceAll("https://onlooker.example.com", service.url)
    .replaceAll(/<(?:agent id|agentId)>/g, agentId)
    .replaceAll("svcp_…", token)
    .replaceAll("svc_…", service.key)
    .replaceAll("/app", root)
    .replaceAll(/(--junit )(results\.xml)/g, `$1${folder}/$2`);
}

const curl = join(import.meta.dirname, "../support/curl.ts");
/** For what is not installed here: curl, and the command of the image. */
const shims = `
command -v curl >/dev/null || curl() { "${process.execPath}" "${curl}" "$@"; }
onlooker() { [ "$1" = svc ] && shift && "${process.execPath}" "${root}/src/cli.ts" "$@"; }
`;

async function runShell(text: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-e", "-c", `${shims}${filled(text)}`], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      npm_node_execpath: process.execPath,
      HOME: process.env["HOME"] ?? folder,
      DATABASE_URL: service.databaseUrl,
      SVC_DATA_DIR: folder,
      SVC_TOKEN: token,
      ONLOOKER_URL: service.url,
      CI_PROJECT_DIR: folder,
    },
  });
  return stdout;
}

const blocks = readPages().flatMap(blocksOf);
const inShell = blocks.filter(({ language }) => ["sh", "bash", "shell", "console"].includes(language));
const commandNames = /^\s*(?:\$ )?(?:npm|npx|curl|docker|node|git|tar|pg_dump|SVC_\w+=\S+ npm)\s/m;

test("every command block is marked as a shell's", () => {
  const unmarked = blocks.filter(
    ({ language, text }) =>
      !inShell.some(one => one.text === text) && language === "" && commandNames.test(text),
  );
  assert.deepEqual(
    unmarked.map(({ place }) => place),
    [],
  );
});

for (const { place, text, notRun } of inShell) {
  if (notRun !== undefined) continue;
  test(`${place} runs`, async () => {
    await runShell(text);
  });
}

/** The commands of a pipeline: what follows "run:", and the items of "script:". */
function commandsOf({ text }: Block): string[] {
  const runs = [...text.matchAll(/^\s*- run: (.+)$/gm)].map(([, command]) => command!);
  const script = /^\s*script:\n((?:\s+- .+\n)+)/m.exec(text)?.[1] ?? "";
  return [...runs, ...[...script.matchAll(/^\s+- (.+)$/gm)].map(([, command]) => command!)];
}

test("the commands of the CI recipes run and leave a JUnit file", async () => {
  const recipes = blocks.filter(
    ({ place, language }) => place.startsWith("docs/ci.md") && language === "yaml",
  );
  assert.equal(recipes.length, 2);
  for (const recipe of recipes) {
    const commands = commandsOf(recipe);
    assert.equal(commands.length, 1, recipe.place);
    await rm(join(folder, "results.xml"), { force: true });
    await runShell(commands[0]!);
    assert.ok(existsSync(join(folder, "results.xml")), recipe.place);
  }
});

test("README: a test case that is created from the conversation passes when the conversation is sent again", async () => {
  const page = readPages().find(({ name }) => name === "README.md")!;
  const [send] = blocksOf(page).filter(({ text }) => text.includes("/public/traces \\"));
  agentId = (await makeAgent(service.owner, { name: "The agent of README" })).id;

  const first: Record<string, string> = JSON.parse(await runShell(send!.text));
  assert.equal(first.status, "created");
  const { body } = await service.client.post(`/api/traces/${first.traceId}/draft-test`).expect(200);
  // As the dashboard changes the draft where no judge is.
  const draft = { ...body, passiveBehavior: "always_run" };
  await service.client.post(`/api/agents/${agentId}/tests`, draft).expect(201);
  const again: Record<string, string> = JSON.parse(await runShell(send!.text));
  await eventually(async () => {
    const trace = await service.client.read(`/api/traces/${again.traceId}`);
    assert.equal(trace.run?.verdict, "passed");
  });
});

test("the quickstart: a trace, a test case without a judge, and the verdicts that it promises", async () => {
  const page = readPages().find(({ name }) => name === "docs/quickstart.md")!;
  const [send] = blocksOf(page).filter(({ text }) => text.includes("/public/traces"));
  const [document] = blocksOf(page).filter(({ language }) => language === "json");
  agentId = (await makeAgent(service.owner, { name: "The quickstart's agent" })).id;

  const first: Record<string, string> = JSON.parse(await runShell(send!.text));
  assert.equal(first.status, "created");
  assert.equal(first.evaluation, "none");
  await service.client.post(`/api/agents/${agentId}/tests`, JSON.parse(document!.text)).expect(201);
  for (const [text, verdict] of [
    [send!.text, "passed"],
    [send!.text.replace("It ships tomorrow.", "I cannot say."), "failed"],
  ] as const) {
    const { traceId, evaluation }: Record<string, string> = JSON.parse(await runShell(text));
    assert.equal(evaluation, "scheduled");
    await eventually(async () => {
      const body = await service.client.read(`/api/traces/${traceId}`);
      assert.equal(body.run?.verdict, verdict);
    });
  }
});
