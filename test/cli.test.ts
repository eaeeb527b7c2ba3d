// The command that CI runs: its exit code, its JUnit file as another reader sees it, and what it says when it cannot.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { XMLParser } from "fast-xml-parser";
import { type AgentServer, sendJson, startAgentServer } from "./support/agent-server.ts";
import { makeTest } from "./support/app.ts";
import { childEnv } from "./support/child-env.ts";
import { eventually } from "./support/eventually.ts";
import { obliging, refusal, startJudgeServer } from "./support/judge-server.ts";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
let server: AgentServer;
let token: string;
let folder: string;
before(async () => {
  service = await startTestService();
  server = await startAgentServer(({ body }, response) =>
    sendJson(response, { reply: `You said ${body.message}` }),
  );
  token = (await service.client.post("/api/access-tokens", { name: "CI" }).expect(201)).body.token;
  folder = await mkdtemp(join(tmpdir(), "onlooker-cli-"));
});
after(async () => {
  await service.stop();
  await server.close();
  await rm(folder, { recursive: true });
});

async function makeCallable(name: string): Promise<string> {
  const made = { name, type: "http_api" };
  const { body } = await service.client.post(`/api/projects/${service.projectId}/agents`, made).expect(201);
  const connection = {
    type: "http_api",
    url: server.url,
    bodyTemplate: '{"message":"{{input}}"}',
    reply: { kind: "json", pointer: "/reply" },
    waitMs: 0,
  };
  await service.client.put(`/api/agents/${body.id}/connection`, connection).expect(200);
  return body.id;
}

const matching = (name: string, pattern: string) => ({
  name,
  assertions: [{ type: "response_regex", pattern }],
});

function start(args: string[], environment: object = { SVC_TOKEN: token }): ChildProcess {
  const cli = join(import.meta.dirname, "../src/cli.ts");
  return spawn(process.execPath, [cli, ...args], {
    env: { ...childEnv, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function svc(args: string[], environment?: object) {
  const child = start(["run", "--url", service.url, ...args], environment);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit"),
  ]);
  return { code, out, err };
}

test("when all tests pass it exits with 0 and says so", async () => {
  const agentId = await makeCallable("Passing");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const { code, out, err } = await svc(["--agent", "Passing", "--wait"]);
  assert.equal(code, 0, err);
  assert.match(out, /^PASSED {2}Greets/);
  assert.match(out, /\n1 passed\n$/);
  assert.match(err, /Running 1 test of Passing/);
});

test("when a test fails it exits with 1, and the JUnit file has each test and its reason", async () => {
  const hostile = 'Odd <name> & "more" ]]> \u0001\u001b[31m';
  const agentId = await makeCallable("Mixed & <odd>");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  await makeTest(service.owner, agentId, matching(hostile, "Goodbye"));
  await makeTest(service.owner, agentId, {
    name: "Searches",
    assertions: [{ type: "tool_call", expected_name: "search" }],
  });
  await makeTest(service.owner, agentId, {
    name: "Polite",
    assertions: [{ type: "semantic", criteria: "Is polite." }],
  });
  const file = join(folder, "made", "for", "it", "report.xml");
  const { code, out, err } = await svc(["--agent", agentId, "--junit", file]);
  assert.equal(code, 1, err);
  assert.match(out, /1 passed, 1 failed, 1 missing instrumentation, 1 skipped/);
  assert.equal(out.includes("\u001b"), false, "no text of a test's moves the cursor");
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: name => name === "testcase",
  });
  const { testsuites } = parser.parse(await readFile(file, "utf8"), true);
  const { testsuite } = testsuites;
  assert.deepEqual(
    [testsuite.name, testsuite.tests, testsuite.failures, testsuite.errors, testsuite.skipped],
    ["Mixed & <odd>", "4", "2", "0", "1"],
  );
  const cases = new Map(testsuite.testcase.map((one: { name: string }) => [one.name.slice(0, 5), one]));
  assert.equal("failure" in (cases.get("Greet") as object), false);
  const odd = cases.get("Odd <") as { failure: { message: string; type: string; "#text": string } };
  assert.equal(odd.failure.type, "failed");
  assert.match(odd.failure.message, /Failed, 1 of 1 checked/);
  assert.match(odd.failure["#text"], /response_regex a1, failed: /);
  const searches = cases.get("Searc") as { failure: { type: string } };
  assert.equal(searches.failure.type, "missing_instrumentation");
  assert.equal("skipped" in (cases.get("Polit") as object), true);
});

test("a test with inputs and repeats passes by its pass rate, and JUnit has a case for each run", async () => {
  const agentId = await makeCallable("Set");
  const inputs = ["one", "two", "three", "four", "five"].map(input => ({ input }));
  await makeTest(service.owner, agentId, { ...matching("Counts", "one|two|three|five"), inputs, repeats: 2 });
  const file = join(folder, "set.xml");
  const options = ["--agent", "Set", "--repeats", "3", "--min-pass-rate", "80%", "--junit", file];
  const { code, out, err } = await svc(options);
  assert.equal(code, 0, err);
  assert.match(err, /Running 1 test of Set: 15 test runs\./);
  assert.match(out, /^PASSED {2}Counts {2}12 of 15 passed \(80%, 95% interval 55–93%\)\n/);
  assert.match(out, /\n {4}FAILED {2}input 4, repeat 1 {2}\(.*\n {8}response_regex a1, failed: /);
  assert.match(out, /\n12 passed, 3 failed\n$/);
  const suite = await readJunit(file);
  assert.deepEqual([suite.tests, suite.failures], ["15", "3"]);
  assert.deepEqual(
    suite.testcase.slice(8, 11).map((one: { name: string; failure?: object }) => [one.name, !one.failure]),
    [
      ["Counts (input 3, repeat 3)", true],
      ["Counts (input 4, repeat 1)", false],
      ["Counts (input 4, repeat 2)", false],
    ],
  );
  for (const args of [["--min-pass-rate", "0.81"], ["--wait"]]) {
    assert.equal((await svc(["--agent", "Set", ...args])).code, 1, String(args));
  }
});

test("--json with --wait prints all results and nothing else", async () => {
  const agentId = await makeCallable("Json");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const off = await makeTest(service.owner, agentId, { ...matching("Off", "Goodbye"), status: "disabled" });
  const { code, out } = await svc(["--agent", "Json", "--tests", `Greets, ${off.id}`, "--wait", "--json"]);
  const result = JSON.parse(out);
  assert.deepEqual([code, result.state, result.runs.length], [1, "completed", 2]);
  assert.equal(result.runs[1].checks[0].outcome, "failed");
});

test("a failed turn is reported before the checks that failed because of it", async () => {
  const agentId = await makeCallable("Broken");
  await makeTest(service.owner, agentId, matching("Greets", "Goodbye"));
  const { script } = server;
  server.script = (_, response) => sendJson(response, { wrong: true });
  const { code, out } = await svc(["--agent", agentId, "--wait"]);
  server.script = script;
  assert.equal(code, 1);
  assert.match(out, /^FAILED {2}Greets .*\n {4}turn 1, bad_reply: .+\n {4}response_regex a1, failed: /);
});

test("--tests can be repeated, and accepts a name with a comma", async () => {
  const agentId = await makeCallable("Commas");
  for (const name of ["Yes, no", "Yes", "no"]) {
    await makeTest(service.owner, agentId, matching(name, "Hello"));
  }
  const named = async (...tests: string[]) => {
    const { out, err } = await svc([
      "--agent",
      agentId,
      "--wait",
      ...tests.flatMap(test => ["--tests", test]),
    ]);
    return out.match(/(?<=^PASSED {2}).*?(?= {2}\()/gm) ?? err;
  };
  assert.deepEqual(await named("Yes, no"), ["Yes, no"]);
  assert.deepEqual(await named("Yes,no"), ["Yes", "no"]);
  assert.deepEqual(await named("no", "Yes"), ["no", "Yes"]);
});

test("--help prints to standard output and exits with 0", async () => {
  const { code, out } = await svc(["--help"]);
  assert.equal(code, 0);
  assert.match(out, /--junit <file>/);
});

/** The JUnit file as another reader sees it. */
async function readJunit(file: string) {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: "",
    isArray: name => name === "testcase",
  });
  return parser.parse(await readFile(file, "utf8"), true).testsuites.testsuite;
}

test("an agent that fails is an error in the JUnit file, and an assertion's description is in the failure", async () => {
  const agentId = await makeCallable("Down");
  await makeTest(service.owner, agentId, {
    name: "Never refunds",
    assertions: [{ type: "response_regex", pattern: "refund", negate: true }],
  });
  const file = join(folder, "down.xml");
  const { script } = server;
  server.script = (_, response) => response.writeHead(502).end("Bad gateway");
  const down = await svc(["--agent", agentId, "--junit", file]);
  server.script = script;
  assert.equal(down.code, 1, down.err);
  assert.match(down.out, /^FAILED {2}Never refunds .*\n {4}turn 1, http_status: .+\n/);
  const suite = await readJunit(file);
  assert.deepEqual([suite.errors, suite.failures], ["1", "0"]);
  const [{ error }] = suite.testcase;
  assert.equal(error.type, "agent_error");
  assert.match(error.message, /^Agent error: .+ answered with status 502\./);

  const describedId = await makeCallable("Described");
  await makeTest(service.owner, describedId, {
    name: "Greets",
    assertions: [{ type: "response_regex", pattern: "Goodbye", description: "Says goodbye" }],
  });
  await svc(["--agent", describedId, "--junit", file]);
  assert.match(
    (await readJunit(file)).testcase[0].failure["#text"],
    /^response_regex a1 \(Says goodbye\), failed: /,
  );
});

test("checks that the judge was unavailable for end with 3, are skipped in the JUnit file, and can be evaluated later", async t => {
  const judge = await startJudgeServer(() => refusal(401));
  t.after(() => judge.close());
  const { provider, url, model } = judge.connection();
  const path = `/api/projects/${service.projectId}/judge` as const;
  await service.client.put(path, { provider, url, model }).expect(200);
  const agentId = await makeCallable("Unjudged");
  await makeTest(service.owner, agentId, {
    name: "Polite",
    assertions: [
      { type: "response_regex", pattern: "Hello" },
      { type: "semantic", criteria: "Is polite.", description: "Politeness" },
    ],
  });
  const file = join(folder, "unjudged.xml");
  const { code, out, err } = await svc(["--agent", agentId, "--junit", file]);
  assert.equal(code, 3, err);
  assert.match(
    out,
    /^PASSED {2}Polite {2}\(.*not fully evaluated\)\n {4}semantic a2 \(Politeness\), skipped: The judge/,
  );
  assert.match(out, /\n1 passed; 1 not fully evaluated, because the judge was unavailable\n$/);
  const suite = await readJunit(file);
  assert.deepEqual([suite.tests, suite.skipped, suite.failures, suite.errors], ["2", "1", "0", "0"]);
  assert.equal(suite.testcase[1].name, "Polite: semantic a2 (Politeness)");
  assert.match(suite.testcase[1].skipped.message, /^The judge/);
  assert.equal((await svc(["--agent", agentId, "--fail-on", "skipped,missing"])).code, 1);

  const launches = await service.client.get(`/api/agents/${agentId}/launches`).expect(200);
  const { id: launchId, notFullyEvaluated, counts } = launches.body.items[0]!;
  assert.deepEqual([notFullyEvaluated, counts.passed], [1, 1]);
  const runOf = async () => {
    const body = await service.client.read(`/api/launches/${launchId}`);
    return body.runs[0];
  };
  assert.deepEqual([(await runOf())!.verdict, (await runOf())!.fullyEvaluated], ["passed", false]);
  judge.script = obliging();
  await service.client.put(path, { provider, url, model: "another" }).expect(200);
  const asked = server.requests.length;
  const again = await service.client.post(`/api/agents/${agentId}/judge-again`, { launchId }).expect(200);
  assert.deepEqual(again.body, { scheduled: 1, left: 0, refused: [] });
  const run = await eventually(async () => {
    const found = await runOf();
    assert.equal(found!.fullyEvaluated, true);
    return found;
  });
  assert.deepEqual([run!.state, run!.verdict, run!.outage], ["completed", "passed", false]);
  assert.equal(server.requests.length, asked, "the agent is not called again");
  await service.client.delete(path).expect(204);
});

test("--min-pass-rate and --repeats say what they take", async () => {
  for (const [args, why] of [
    [["--min-pass-rate", "90"], /from 0 to 1, such as 0\.9, or a percentage/],
    [["--repeats", "21"], /a whole number from 1 to 20/],
  ] as const) {
    const { code, err } = await svc(["--agent", "x", ...args]);
    assert.equal(code, 2);
    assert.match(err, why);
  }
});

test("--fail-on takes the kinds it knows", async () => {
  const { code, err } = await svc(["--agent", "x", "--fail-on", "skipped,everything"]);
  assert.equal(code, 2);
  assert.match(err, /It must be of skipped, missing/);
});

test("without --wait it exits immediately with the launch's id", async () => {
  const agentId = await makeCallable("Soon");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const { code, out } = await svc(["--agent", "Soon", "--json"]);
  assert.equal(code, 0);
  // Waits for its end, so that its call is not mistaken for the next test's.
  await eventually(async () => {
    const body = await service.client.read(`/api/launches/${JSON.parse(out).id as string}`);
    assert.deepEqual([body.source, body.state], ["cli", "completed"]);
  });
});

test("a signal makes it cancel its launch and exit with 1", async () => {
  const agentId = await makeCallable("Slow");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const begun = Promise.withResolvers<void>();
  const { script } = server;
  server.script = () => begun.resolve();
  const child = start(["run", "--url", service.url, "--agent", "Slow", "--wait"]);
  const err = text(child.stderr!);
  const exit = once(child, "exit");
  await begun.promise;
  server.script = script;
  child.kill("SIGTERM");
  const [code] = await exit;
  assert.equal(code, 1, await err);
  const body = await service.client.read(`/api/agents/${agentId}/launches`);
  assert.equal(body.items[0]!.state, "cancelled");
});

test("a signal before its launch is answered makes it cancel that launch", async t => {
  const agentId = await makeCallable("Late");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const { script } = server;
  server.script = () => undefined;
  const launched = Promise.withResolvers<void>();
  const answering = Promise.withResolvers<void>();
  const slow = createServer(async (request, response) => {
    const { method = "GET", url = "", headers } = request;
    const body = await text(request);
    const passedOn = await fetch(service.url + url, {
      method,
      headers: { authorization: headers.authorization!, "content-type": "application/json" },
      ...(body && { body }),
    });
    if (url.endsWith("/launches")) {
      launched.resolve();
      await answering.promise;
    }
    response.writeHead(passedOn.status).end(await passedOn.text());
  }).listen(0, "127.0.0.1");
  t.after(() => slow.close().closeAllConnections());
  await once(slow, "listening");
  const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  const child = start(["run", "--url", url, "--agent", agentId, "--wait"]);
  const exit = once(child, "exit");
  let err = "";
  await launched.promise;
  child.kill("SIGINT");
  for await (const chunk of child.stderr!) {
    err += chunk;
    if (err.includes("Cancelling.")) answering.resolve();
  }
  const [code] = await exit;
  server.script = script;
  assert.equal(code, 1, err);
  const body = await service.client.read(`/api/agents/${agentId}/launches`);
  assert.equal(body.items[0]!.state, "cancelled");
});

test("while the judge is unavailable it says that it waits, and exits when the judge has answered", async t => {
  const judge = await startJudgeServer(() => refusal(503));
  t.after(() => judge.close());
  const { provider, url, model } = judge.connection();
  await service.client.put(`/api/projects/${service.projectId}/judge`, { provider, url, model }).expect(200);
  const agentId = await makeCallable("Judged");
  await makeTest(service.owner, agentId, {
    name: "Polite",
    assertions: [{ type: "semantic", criteria: "Is polite." }],
  });
  const child = start(["run", "--url", service.url, "--agent", agentId, "--wait"]);
  const exit = once(child, "exit");
  let err = "";
  for await (const chunk of child.stderr!) {
    err += chunk;
    if (err.includes("waits for")) judge.script = obliging();
  }
  const [code] = await exit;
  await service.client.delete(`/api/projects/${service.projectId}/judge`).expect(204);
  assert.equal(code, 0, err);
  assert.match(err, /^0 of 1 done; 1 waits for the judge: The judge .+$/m);
});

test("when its output pipe is closed, the JUnit file and the exit code are the same", async () => {
  const agentId = await makeCallable("Unread");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const file = join(folder, "unread.xml");
  const child = start(["run", "--url", service.url, "--agent", agentId, "--junit", file]);
  child.stdout!.destroy();
  const [err, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")]);
  assert.equal(code, 0, err);
  assert.match(await readFile(file, "utf8"), /<testcase .*name="Greets"/);
});

test("when the JUnit file cannot be written, nothing is launched", async () => {
  const agentId = await makeCallable("Unwritable");
  await makeTest(service.owner, agentId, matching("Greets", "Hello"));
  const { code, out, err } = await svc(["--agent", agentId, "--junit", join(process.execPath, "x.xml")]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /Cannot write .*x\.xml/);
  const body = await service.client.read(`/api/agents/${agentId}/launches`);
  assert.deepEqual(body.items, []);
});

test("an unwritable JUnit file is said before the service is asked for anything", async () => {
  const file = join(process.execPath, "x.xml");
  const { code, err } = await svc(["--agent", "x", "--url", "http://127.0.0.1:1", "--junit", file]);
  assert.equal(code, 2);
  assert.match(err, /Cannot write .*x\.xml/);
});

test("a command that cannot run leaves a JUnit file that says so, in place of an earlier build's", async () => {
  const file = join(folder, "stale.xml");
  await writeFile(file, "<testsuites/>");
  await svc(["--agent", "nobody", "--junit", file]);
  const { testcase } = await readJunit(file);
  assert.match(testcase[0].error.message, /^No agent named “nobody”/);
});

for (const [how, kill] of [
  ["Ctrl-C", (npm: ChildProcess) => process.kill(-npm.pid!, "SIGINT")],
  ["SIGTERM", (npm: ChildProcess) => npm.kill("SIGTERM")],
] as const) {
  test(`${how} through npm cancels the launch, and leaves a JUnit file`, async () => {
    const agentId = await makeCallable(`Stopped by ${how}`);
    await makeTest(service.owner, agentId, matching("Greets", "Hello"));
    const begun = Promise.withResolvers<void>();
    const { script } = server;
    server.script = () => begun.resolve();
    const file = join(folder, `${how}.xml`);
    const args = ["run", "--silent", "svc", "--", "run", "--url", service.url, "--agent", agentId];
    const npm = spawn("npm", [...args, "--junit", file], {
      cwd: join(import.meta.dirname, ".."),
      env: { ...childEnv, SVC_TOKEN: token },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, which gets the signal as a terminal's does.
      detached: true,
    });
    const exit = once(npm, "exit");
    const err = text(npm.stderr!);
    await begun.promise;
    server.script = script;
    kill(npm);
    await exit;
    await err;
    const suite = await readJunit(file);
    assert.deepEqual([suite.tests, suite.errors], ["1", "1"], await err);
    assert.equal(suite.testcase[0].error.type, "cancelled");
    const body = await service.client.read(`/api/agents/${agentId}/launches`);
    assert.equal(body.items[0]!.state, "cancelled");
  });
}

test("a later signal ends the command though the launch goes on, and its JUnit file is valid", async t => {
  const id = crypto.randomUUID();
  const cancelled = Promise.withResolvers<void>();
  const launch = {
    ...{ id, state: "running", testCount: 1, runCount: 1, finishedAt: null, notFullyEvaluated: 0 },
    counts: { passed: 0, failed: 0, skipped: 0, missing_instrumentation: 0, error: 0, cancelled: 0, open: 1 },
    runs: [
      {
        ...{ id, testId: id, testName: "Greets", row: null, repeat: null },
        ...{ state: "running", verdict: null, notices: [] },
      },
    ],
  };
  let polls = 0;
  const stuck = createServer((request, response) => {
    if (request.url?.endsWith("/cancel")) cancelled.resolve();
    else if (request.url?.startsWith(`/api/launches/${id}?`)) polls += 1;
    response.end(
      JSON.stringify(
        request.url?.startsWith("/api/agents") && request.method === "GET" ? { id, name: "A" } : launch,
      ),
    );
  }).listen(0, "127.0.0.1");
  t.after(() => stuck.close().closeAllConnections());
  await once(stuck, "listening");
  const url = `http://127.0.0.1:${(stuck.address() as AddressInfo).port}`;
  const file = join(folder, "stuck.xml");
  const child = start(["run", "--url", url, "--agent", id, "--junit", file]);
  const exit = once(child, "exit");
  await eventually(async () => assert.ok(polls > 0));
  child.kill("SIGINT");
  child.kill("SIGINT");
  await cancelled.promise;
  // Repeated at once, a signal is the same one; the launch is waited for until a later one.
  const at = polls;
  await eventually(async () => assert.ok(polls > at));
  await eventually(async () => assert.equal(child.kill("SIGTERM") && child.exitCode === null, false));
  assert.deepEqual(await exit, [1, null]);
  const suite = await readJunit(file);
  assert.deepEqual([suite.tests, suite.errors, suite.testcase[0].name], ["1", "1", "Greets"]);
});

test("a server that is not Onlooker is reported as such", async () => {
  const agentId = await makeCallable("Elsewhere");
  const { code, out, err } = await svc(["--agent", agentId, "--url", server.url, "--wait"]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /is not an Onlooker service/);
});

test("wrong usage and rejected requests exit with 2 and a line that says why, and never the token", async t => {
  const agentId = await makeCallable("Empty");
  const elsewhere = await startAgentServer((_, response) => response.writeHead(404).end("Not here."));
  t.after(() => elsewhere.close());
  const hostile = await startAgentServer((_, response) =>
    response.writeHead(409).end(JSON.stringify({ message: "\u001b[2J\nPASSED", hint: "\u202e" })),
  );
  t.after(() => hostile.close());
  const unknown = `svcp_${"x".repeat(40)}`;
  for (const [args, environment, why] of [
    [["--wait"], undefined, /required option '--agent <id or name>' not specified/],
    [["--agent", "x", "--nonsense"], undefined, /nonsense/],
    [["--agent", "x"], {}, /no access token: set SVC_TOKEN/],
    [["--agent", "nobody"], undefined, /No agent named “nobody”/],
    [["--agent", crypto.randomUUID()], undefined, /No agent with id /],
    [["--agent", agentId, "--tests", "nothing"], undefined, /no test “nothing”/],
    [["--agent", agentId, "--tests", crypto.randomUUID()], undefined, /no test “/],
    [["--agent", agentId, "--url", elsewhere.url], undefined, /answered 404; is it an Onlooker service/],
    [["--agent", agentId, "--url", hostile.url], undefined, /^\ufffd\[2J PASSED \ufffd\n$/],
    [["--agent", agentId], undefined, /no Active test case\. Activate one, or name the tests to run/],
    [["--agent", agentId], { SVC_TOKEN: unknown }, /unknown, revoked or expired/],
    [
      ["--agent", agentId, "--url", "nowhere"],
      undefined,
      /option '--url <url>' argument 'nowhere' is invalid/,
    ],
    [["--agent", agentId, "--url", "http://127.0.0.1:1"], undefined, /cannot be reached .* and --url\.$/m],
    [["--agent", agentId, "--url", "http://127.0.0.1:99999"], undefined, /It must be a URL, such as https:/],
    [["--agent", agentId, "--url", `${elsewhere.url}/?a=b`], undefined, /no query or fragment/],
    [
      ["--agent", agentId, "--url", "http://u:hidden@127.0.0.1:1"],
      undefined,
      /--url must not contain a user/,
    ],
    [["--agent", agentId], { SVC_TOKEN: "svcp_a b" }, /invalid access token: it contains a space/],
  ] as [string[], object | undefined, RegExp][]) {
    const { code, out, err } = await svc(args, environment);
    assert.deepEqual([code, out], [2, ""], err);
    assert.match(err, why);
    for (const secret of [token, unknown, "hidden"]) assert.equal(err.includes(secret), false);
  }
});
