// Tests the guides of Get started that need other packages: each is run with its SDK and a played model, and its trace is read.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileName, type Guide, type Language, programText } from "../../../web/pages/start/guides/guide.ts";
import { guides } from "../../../web/pages/start/guides/guides.ts";
import { snippets } from "../../../web/pages/start/snippets.ts";
import { makeAgent } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { assertReadWeather, guideSettings } from "../../support/guide-runs.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import { startTestService, type TestService } from "../../support/service.ts";
import { cached } from "../support/cache.ts";
import { requireCommand, runCommand } from "../support/command.ts";
import { leftOut } from "../support/needs.ts";

const locks = join(import.meta.dirname, "frameworks");
const runOf = (wanted: Language) =>
  guides.filter(({ language, notRun }) => language === wanted && notRun === undefined);
const python = runOf("Python");
const node = runOf("Node");
const skipPython = await leftOut("python", "pypi");
const skipNode = await leftOut("registry");

let service: TestService;
let model: ModelServer;
const scratch = mkdtempSync(join(tmpdir(), "onlooker-frameworks-"));
before(async () => {
  service = await startTestService({ config: { roles: ["http"] } });
  model = await startModelServer();
});
after(async () => {
  await model?.close();
  await service?.stop();
  rmSync(scratch, { recursive: true, force: true });
});

suite("guides for Python", { skip: skipPython, concurrency: 2 }, () => {
  let packages: string;
  let since: number;
  before(async () => {
    since = performance.now();
    packages = await installPython();
  });
  after(() => console.log(`frameworks in Python: ${((performance.now() - since) / 1000).toFixed(1)} s`));

  test("run with the versions that they name", () => {
    const lock = readFileSync(join(locks, "python.txt"), "utf8");
    for (const guide of python) {
      for (const [name, version] of Object.entries(guide.packages)) {
        assert.ok(lock.includes(`\n${name.replace(/\[.*/, "")}==${version}\n`), `${guide.id}: ${name}`);
      }
    }
  });

  const prepare = () => ({
    program: "python3",
    variables: { PYTHONPATH: packages, PYTHONUTF8: "1" }, // with bytecode, which takes most of the time, in the cache
  });
  test("the snippet without a framework sends its trace", () => runSnippet("python", prepare));
  for (const guide of python) {
    test(`${guide.id}: its trace is read whole`, () => runGuide(guide, prepare));
  }
});

suite("guides for Node", { skip: skipNode, concurrency: 2 }, () => {
  let packages: string;
  let since: number;
  before(async () => {
    since = performance.now();
    packages = await installNode();
  });
  after(() => console.log(`frameworks in Node: ${((performance.now() - since) / 1000).toFixed(1)} s`));

  const prepare = (folder: string) => {
    symlinkSync(join(packages, "node_modules"), join(folder, "node_modules"));
    return { program: process.execPath, variables: {} };
  };
  test("the snippet without a framework sends its trace", () => runSnippet("node", prepare));
  for (const guide of node) {
    test(`${guide.id}: its trace is read whole`, () => runGuide(guide, prepare));
  }
});

/** The snippet of plain OpenTelemetry, with the packages that the guides install. */
async function runSnippet(name: "python" | "node", prepare: (folder: string) => Runtime): Promise<void> {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const file = name === "python" ? "first_trace.py" : "first-trace.mjs";
  const { program, variables } = prepare(folder);
  const serviceName = `snippet-${name}`;
  const agent = await makeAgent(service.owner, { otlpServiceName: serviceName });
  const given = { origin: service.url, key: service.key, agentId: agent.id, serviceName, endMs: Date.now() };
  writeFileSync(join(folder, file), snippets[name].text(given));
  const output = await runCommand(program, [file], {
    cwd: folder,
    env: { ...variablesOf(folder), ...variables },
  });
  assert.equal(output.code, 0, output.stderr);
  await eventually(async () => {
    const body = await service.client.read(`/api/agents/${agent.id}/traces`);
    assert.deepEqual(
      body.items.map(trace => [trace.userInput, trace.tokens.total]),
      [["Are you open on Sunday?", 428]],
    );
  });
}

type Runtime = { program: string; variables: Record<string, string> };

async function runGuide(guide: Guide, prepare: (folder: string) => Runtime): Promise<void> {
  const folder = join(scratch, guide.id);
  mkdirSync(folder);
  const file = fileName(guide)!;
  writeFileSync(join(folder, file), programText(guide));
  const { program, variables } = prepare(folder);
  const { agentId, variables: given } = await guideSettings(service, guide);
  const env = { ...variablesOf(folder), ...variables, ...given };
  const output = await runCommand(program, [file], { cwd: folder, env });
  assert.equal(output.code, 0, output.stderr);
  await assertReadWeather(service, agentId, guide, output);
}

/** What the SDKs of the model need, and where the frameworks may write. */
function variablesOf(home: string): Record<string, string> {
  return {
    PATH: process.env["PATH"]!,
    HOME: home,
    OPENAI_API_KEY: "key-1",
    OPENAI_BASE_URL: model.url,
    OPENAI_API_BASE: model.url, // LlamaIndex
    LITELLM_LOCAL_MODEL_COST_MAP: "True", // DSPy; otherwise prices are downloaded
  };
}

/** The folder of the packages, 500 MB. pip takes minutes to resolve so many; uv, which it installs, takes seconds. */
function installPython(): Promise<string> {
  const lock = readFileSync(join(locks, "python.txt"), "utf8");
  return cached("frameworks-python", lock, async folder => {
    const quiet = ["--quiet", "--disable-pip-version-check", "--root-user-action=ignore"];
    const uv = mkdtempSync(join(scratch, "uv-"));
    await requireCommand("python3", ["-m", "pip", "install", ...quiet, "--target", uv, "uv==0.13.9"]);
    const requirements = ["--no-deps", "-r", join(locks, "python.txt")];
    await requireCommand(join(uv, "bin/uv"), [
      ...["pip", "install", "--quiet", "--python", "python3", "--target", folder],
      ...requirements,
    ]);
  });
}

/** The folder of the packages, 200 MB. */
function installNode(): Promise<string> {
  const packages = node.map(guide => guide.packages);
  return cached("frameworks-node", packages, async folder => {
    const words = new Set(packages.flatMap(Object.entries).map(([name, version]) => `${name}@${version}`));
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    const quiet = ["--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
    await requireCommand("npm", ["install", ...quiet, ...words], { cwd: folder });
  });
}
