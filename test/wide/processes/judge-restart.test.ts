// A run that waits for the judge survives the process that started it, with the same deadline.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  bootstrapped,
  type ServiceProcess,
  signedIn,
  startProcess,
  stopProcess,
} from "../../flow/processes.ts";
import { makeTest } from "../../support/app.ts";
import { canonicalBody, canonicalSpan } from "../../support/bodies.ts";
import { eventually } from "../../support/eventually.ts";
import { obliging, refusal, startJudgeServer } from "../../support/judge-server.ts";
import { checksOf, plain, said, semantic } from "../../support/judged-project.ts";
import { freshDatabase } from "../../support/postgres.ts";
import { send, traceIdOf } from "../../support/send.ts";

const apiKey = "sk-of-the-operator-7f3a9";
const away = refusal(503, { message: `Not now, ${apiKey}.` });
const judge = await startJudgeServer(() => away);
const database = await freshDatabase();
const env = {
  DATABASE_URL: database.url,
  SVC_LOG_LEVEL: "debug",
  SVC_LEASE_MS: "1000",
  SVC_JUDGE_URL: judge.url,
  SVC_JUDGE_MODEL: "local-model",
  SVC_JUDGE_API_KEY: apiKey,
};
const started: ServiceProcess[] = [];
after(async () => {
  await Promise.all(started.map(stopProcess));
  await database.drop();
  await judge.close();
});

async function start(role: string, more: Record<string, string> = {}): Promise<ServiceProcess> {
  const service = await startProcess({ ...env, SVC_ROLES: role, ...more });
  started.push(service);
  return service;
}

const made = await bootstrapped(env);
const http = await start("http");
const owner = await signedIn(http, made);
await makeTest(owner, made.agentId, { assertions: [plain, semantic] });

async function store(reply: string): Promise<string> {
  const spans = [canonicalSpan({ attributes: { "gen_ai.response.text": reply } })];
  const to = { url: http.url, key: made.apiKey };
  return traceIdOf(await send(to, { body: canonicalBody(made.agentId, { spans }) }));
}

const runsOf = async (traceId: string) => (await owner.client.read(`/api/traces/${traceId}`)).runs;

const waiting = (traceId: string) =>
  eventually(async () => {
    const [run] = await runsOf(traceId);
    assert.ok(run!.waiting);
    return run;
  });

const completed = (traceId: string) =>
  eventually(async () => {
    const [run, ...more] = await runsOf(traceId);
    assert.deepEqual([run!.state, more], ["completed", []]);
    return run;
  });

async function kill(service: ServiceProcess): Promise<void> {
  service.kill("SIGKILL");
  await service.exited;
}

test("a run whose worker is killed while it waits is taken over by another, and fully judged", async () => {
  const doomed = await start("worker");
  const traceId = await store(said);
  const before = await waiting(traceId);
  await kill(doomed);
  assert.deepEqual(checksOf((await runsOf(traceId))[0]), [
    ["plain", "passed"],
    ["judged", "waiting"],
  ]);
  const next = await start("worker");
  // Its first try fails too, so another process saves its partial results.
  const asked = judge.requests.length;
  await judge.arrived(asked + 1);
  const between = await waiting(traceId);
  assert.deepEqual([between!.id, between!.waiting!.until], [before!.id, before!.waiting!.until]);
  judge.script = obliging();
  const run = await completed(traceId);
  assert.deepEqual([run!.id, run!.verdict, run!.outage, run!.attempts], [before!.id, "passed", false, 1]);
  await stopProcess(next);
});

test("the deadline of a run stays the same, whichever worker resumes it and however long it waits", async () => {
  judge.script = () => away;
  const doomed = await start("worker", { SVC_JUDGE_DEADLINE_MS: "4000" });
  const traceId = await store("It is in Lyon.");
  const before = await waiting(traceId);
  await kill(doomed);
  const next = await start("worker", { SVC_JUDGE_DEADLINE_MS: "900000" });
  const run = await completed(traceId);
  assert.deepEqual(checksOf(run), [
    ["plain", "passed"],
    ["judged", "judge_unavailable"],
  ]);
  assert.match(run!.results[0]!.checks[1]!.reason, /^The judge answered with status 503 \(\d+ tries\)\.$/);
  assert.deepEqual([run!.id, run!.outage], [before!.id, true]);
  await stopProcess(next);
});

test("no process logs the key, even if the judge's server repeats it", () => {
  const logs = started.flatMap(service => service.logs).join("\n");
  assert.match(logs, /ready at/);
  assert.doesNotMatch(logs, new RegExp(apiKey));
});
