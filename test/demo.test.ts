// Runs the demo as a user does: its traces are evaluated, the table matches the API, and it stops on SIGTERM.
import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { type Client, openClient } from "../demo/client.ts";
import type { TraceDetail } from "../src/http/traces/schemas.ts";
import { assertionSchema } from "../src/model/test-case/assertion.ts";
import { childEnv } from "./support/child-env.ts";
import { eventually } from "./support/eventually.ts";
import { type JudgeServer, obliging, startJudgeServer } from "./support/judge-server.ts";
import { freshDatabase } from "./support/postgres.ts";

const outcomes = ["passed", "failed", "skipped", "missing_instrumentation"] as const;
type Counts = Record<(typeof outcomes)[number], number>;

let database: Awaited<ReturnType<typeof freshDatabase>>;
let dataDir: string;
let demo: Demo;
let judge: JudgeServer | undefined;
before(async () => {
  database = await freshDatabase();
  dataDir = mkdtempSync(join(tmpdir(), "onlooker-demo-"));
  demo = await startDemo();
});
after(async () => {
  await demo.stop();
  await judge?.close();
  await database.drop();
  rmSync(dataDir, { recursive: true });
});

test("the demo shows 50 evaluated traces, with every outcome and every assertion type among them", () => {
  const traces = demo.totals("Traces");
  assert.equal(sum(traces), 50);
  for (const outcome of outcomes) assert.ok(traces[outcome] > 0, `no trace is ${outcome}`);
  for (const word of ["Passed", "Failed", "Skipped", "Missing instrumentation"]) {
    assert.match(demo.output, new RegExp(`(otlp|otlp ×\\d|canonical) +${word}, \\d of \\d checked`));
  }
  for (const { shape } of assertionSchema.options) {
    const [type] = shape.type.def.values;
    assert.ok(sum(demo.totals(type!)) > 0, `no ${type} was evaluated`);
  }
});

test("some of the demo's traces arrive in several batches", () => {
  assert.match(demo.output, /otlp ×2 .*\n.*/);
  assert.match(demo.output, /otlp ×3 +Passed/);
});

test("without a judge no semantic check passes or fails, and no “Run when relevant” test runs", () => {
  const { passed, failed, skipped } = demo.totals("semantic");
  assert.deepEqual({ passed, failed }, { passed: 0, failed: 0 });
  assert.ok(skipped > 0);
  assert.match(demo.output, /\d+ checks +No judge is configured/);
  for (const why of ["routing unavailable", "manual only", "multi turn", "disabled", "no user input"]) {
    assert.match(demo.output, new RegExp(`^ {2}${why} +\\S.* \\(\\d+\\)`, "m"));
  }
});

test("the table fits in 100 columns and has no colors when the output is not a terminal", () => {
  const lines = demo.output.split("\n");
  const table = lines.slice(0, lines.indexOf("Send your own trace to the tests of Shop:"));
  assert.ok(table.length > 40);
  assert.deepEqual(
    table.filter(line => line.length > 100),
    [],
  );
  assert.ok(!demo.output.includes("\u001b"));
});

test("the printed login works, and the API reports the same verdicts as the table", async () => {
  const { client, agents } = await demo.signIn();
  const traces = await Promise.all(
    agents.map(({ id }) => client.list<{ run: { verdict: string } }>(`/api/agents/${id}/traces?kind=live`)),
  );
  const verdicts = traces.flat().map(({ run }) => run.verdict);
  const counts = outcomes.map(outcome => [outcome, verdicts.filter(verdict => verdict === outcome).length]);
  assert.deepEqual(demo.totals("Traces"), Object.fromEntries(counts));
});

test("the travel agent's traces, written in OpenInference, have conversations, users, tool results and cached tokens", async () => {
  const { client, agents } = await demo.signIn();
  const { id } = agents.find(({ name }) => name === "Travel")!;
  const listed = await client.list<{ id: string; userInput: string }>(`/api/agents/${id}/traces`);
  const { id: booking } = listed.find(({ userInput }) => userInput === "Yes please, and book the train.")!;
  const trace = await client.get<TraceDetail>(`/api/traces/${booking}`);
  assert.deepEqual(
    [trace.userId, trace.model, trace.toolCalls.map(call => [call.name, call.result])],
    [
      "lena.moser",
      "gpt-4.1-mini",
      [
        ["book_train", { booking: "T-58213", price_eur: 74 }],
        ["book_hotel", { booking: "H-20977", price_eur: 256 }],
      ],
    ],
  );
  assert.match(trace.conversationId!, /^trip-\w{4}-1$/);
  assert.match(trace.responseText!, /^Both are booked/);
  assert.ok(trace.tokens.cached! > 0);
});

test("the example trace that the demo prints is accepted and scheduled for evaluation", async () => {
  const [, apiKey, body] = /x-api-key: (svc_\w+)' \\\n +-d '(\{.*?\})'\n/s.exec(demo.output)!;
  const response = await fetch(`${demo.url}/public/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": apiKey! },
    body: body!,
  });
  assert.equal(response.status, 201);
  const { evaluation } = (await response.json()) as { evaluation: string };
  assert.equal(evaluation, "scheduled");
});

test("the shop's test cases run against its assistant, which sends a trace of every turn", async () => {
  const { client, agents } = await demo.signIn();
  const { id } = agents.find(({ name }) => name === "Shop")!;
  const { runs } = await eventually(async () => {
    const [newest] = await client.list<{ id: string; state: string }>(`/api/agents/${id}/launches`);
    assert.equal(newest?.state, "completed");
    return client.get<{ runs: Run[] }>(`/api/launches/${newest.id}`);
  });
  const named = (verdict: string) => runs.filter(run => run.verdict === verdict).map(run => run.testName);
  assert.deepEqual(named("failed"), ["Refuses unauthorized discounts"]);
  assert.ok(named("passed").includes("Exchanges a size over three turns"));
  assert.equal(named("skipped").length, 2, "skipped because there is no judge");
  assert.equal(runs.length, 8);
  assert.deepEqual(
    runs.flatMap(({ notices }) => notices),
    [],
    "a trace arrived of every turn",
  );
});

test("the demo stops on SIGTERM, and another start adds to the same agents and tests, judged where there is a judge", async () => {
  const earlier = await demo.inventory();
  assert.equal(await demo.stop(), 0);
  assert.deepEqual(await demo.complaints, []);
  const isReturn = (scenario: string, said: string) => /return an item/.test(scenario) && /return/.test(said);
  judge = await startJudgeServer(
    obliging({ label: (scenario, said) => (isReturn(scenario, said) ? "match" : "no_match") }),
  );
  demo = await startDemo({ SVC_JUDGE_URL: judge.url, SVC_JUDGE_MODEL: "scripted" });
  const later = await demo.inventory();
  assert.equal(later.traces, earlier.traces + 50);
  assert.deepEqual(later.made, earlier.made);
  const { passed, failed } = demo.totals("semantic");
  assert.ok(passed > 30);
  assert.equal(failed, 0);
  assert.match(demo.output, /^ {2}scenario no match +Opens returns correctly \(20\)/m);
  assert.doesNotMatch(demo.output, /No judge is configured|routing unavailable/);
});

test("an agent that the user connected to the shop is neither replaced nor called by another start", async () => {
  const { client, agents } = await demo.signIn();
  const path = `/api/agents/${agents.find(({ name }) => name === "Shop")!.id}` as const;
  const theirs = "http://127.0.0.1:9/chat";
  type Connected = { connection: { url: string } };
  const { connection } = await client.get<Connected>(`${path}/connection`);
  await client.send("PUT", `${path}/connection`, { ...connection, url: theirs });
  const launches = async (of: Client) =>
    (await of.list<{ id: string }>(`${path}/launches`)).map(({ id }) => id);
  const before = await launches(client);
  await demo.stop();
  demo = await startDemo();
  const again = (await demo.signIn()).client;
  assert.equal((await again.get<Connected>(`${path}/connection`)).connection.url, theirs);
  assert.deepEqual(await launches(again), before);
  assert.doesNotMatch(demo.output, /Also running/);
});

type Demo = Awaited<ReturnType<typeof startDemo>>;
type Agent = { id: string; name: string };
type Run = { testName: string; verdict: string; notices: string[] };

/** Resolves once everything was printed; rejects when it ends before. */
async function startDemo(env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../demo/main.ts")], {
    env: {
      ...childEnv,
      DATABASE_URL: database.url,
      SVC_DATA_DIR: dataDir,
      PORT: "0",
      SVC_DEBOUNCE_MS: "800",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const logged = text(child.stderr);
  const complaints = logged.then(lines =>
    lines.split("\n").filter(line => line && !/^\{"level":30,/.test(line)),
  );
  const output = await readUntil(child, "Press Ctrl-C to stop it", logged);
  const [, url] = /^Onlooker is ready at (http:\S+)$/m.exec(output)!;
  const [, email, password] = /^Sign in as (\S+) with the password (\S+)$/m.exec(output)!;
  const signIn = async (): Promise<{ client: Client; agents: Agent[] }> => {
    const client = openClient(url!);
    const account = { email, password };
    await client.send("POST", "/api/auth/sign-in/email", account);
    const projects = await client.list<{ id: string }>("/api/projects");
    const agents = await Promise.all(
      projects.map(({ id }) => client.list<Agent>(`/api/projects/${id}/agents`)),
    );
    return { client, agents: agents.flat() };
  };
  return {
    output,
    complaints,
    url: url!,
    totals: (label: string) => totalsIn(output, label),
    signIn,
    async inventory() {
      const { client, agents } = await signIn();
      const of = (what: string) =>
        Promise.all(agents.map(({ id }) => client.list<{ id: string }>(`/api/agents/${id}/${what}`)));
      const [tests, traces] = await Promise.all([of("tests"), of("traces?kind=live")]);
      return { made: { agents, tests: tests.flat().map(({ id }) => id) }, traces: traces.flat().length };
    },
    /** Its exit code. */
    async stop(): Promise<number | null> {
      if (child.exitCode !== null) return child.exitCode;
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      const [code] = await ended;
      return code;
    },
  };
}

async function readUntil(
  child: ChildProcessByStdio<null, Readable, Readable>,
  end: string,
  logged: Promise<string>,
): Promise<string> {
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    output += chunk;
    if (output.includes(end)) return output;
  }
  throw new Error(`The demo ended early:\n${output}${await logged}`);
}

function totalsIn(output: string, label: string): Counts {
  const row = new RegExp(`^ *${label} +(\\d+) +(\\d+) +(\\d+) +(\\d+)$`, "m").exec(output);
  assert.ok(row, `no totals of ${label} in:\n${output}`);
  return Object.fromEntries(outcomes.map((outcome, at) => [outcome, Number(row[at + 1])])) as Counts;
}

function sum(counts: Counts): number {
  return outcomes.reduce((total, outcome) => total + counts[outcome], 0);
}
