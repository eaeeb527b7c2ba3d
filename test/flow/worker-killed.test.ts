// A worker process that dies in the middle of a run costs time and nothing else.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { obliging, silence, startJudgeServer } from "../support/judge-server.ts";
import { freshDatabase } from "../support/postgres.ts";
import { send, traceIdOf } from "../support/send.ts";
import { bootstrapped, signedIn, startProcess, stopProcesses } from "./processes.ts";

const judge = await startJudgeServer(() => silence);
const database = await freshDatabase();
const env = {
  DATABASE_URL: database.url,
  SVC_LEASE_MS: "1000",
  SVC_JUDGE_URL: judge.url,
  SVC_JUDGE_MODEL: "local-model",
};
after(async () => {
  await stopProcesses();
  await database.drop();
  await judge.close();
});

const start = (role: string) => startProcess({ ...env, SVC_ROLES: role });

test("a killed worker's run is taken over by another and has one result per test", async () => {
  const made = await bootstrapped(env);
  const [http, doomed] = await Promise.all([start("http"), start("worker")]);
  const owner = await signedIn(http, made);
  for (const name of ["first", "second"]) {
    await makeTest(owner, made.agentId, { name, assertions: [{ type: "semantic", criteria: "Is polite." }] });
  }
  const spans = [canonicalSpan({ attributes: { "gen_ai.response.text": "Hello" } })];
  const to = { url: http.url, key: made.apiKey };
  const traceId = traceIdOf(await send(to, { body: canonicalBody(made.agentId, { spans }) }));
  // biome-ignore lint/suspicious/noExplicitAny: the test compares whatever is read back.
  const runs = async (): Promise<any[]> => (await owner.client.read(`/api/traces/${traceId}`)).runs;

  await judge.arrived(1);
  const [begun] = await runs();
  assert.deepEqual([begun.state, begun.attempts], ["running", 1]);
  doomed.kill("SIGKILL");
  await doomed.exited;
  judge.script = obliging();
  await start("worker");

  const [ended, ...more] = await eventually(async () => {
    const now = await runs();
    assert.equal(now[0].state, "completed");
    return now;
  });
  assert.deepEqual(more, []);
  assert.deepEqual([ended.id, ended.attempts, ended.verdict], [begun.id, 2, "passed"]);
  assert.deepEqual(
    ended.results.map((result: { name: string }) => result.name),
    ["first", "second"],
  );
});
