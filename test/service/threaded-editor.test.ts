// The thread behind the editor: what kills it or makes it hang costs the questions it had, not the next ones.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pino from "pino";
import { readConfig } from "../../src/config.ts";
import { ThreadedEditor, type ThreadedEditorOptions } from "../../src/service/threaded-editor.ts";
import { addressesOf, freshDatabase } from "../support/postgres.ts";

const database = await freshDatabase();
const hosts: ThreadedEditor[] = [];
after(async () => {
  await Promise.all(hosts.map(host => host.close()));
  await database.drop();
});

function open(options: Partial<ThreadedEditorOptions> = {}): ThreadedEditor {
  const config = { ...readConfig({}), logLevel: "silent" as const };
  const log = pino({ level: "silent" });
  const host = new ThreadedEditor({ config, addresses: addressesOf(database.url), log, ...options });
  hosts.push(host);
  return host;
}

const signal = new AbortController().signal;
const agentId = crypto.randomUUID();
const empty = { traces: 0, complete: true, spans: [], tools: [] };

test("a question is answered by the thread, and nothing found comes back as undefined", async () => {
  const host = open();
  assert.deepEqual(await host.vocabulary({ agentId }, signal), empty);
  assert.equal(await host.draftTest({ traceId: crypto.randomUUID() }, signal), undefined);
});

test("a thread that is out of memory refuses what it had in hand, and another one is started", async () => {
  const host = open({ memoryMb: 4 });
  for (let tries = 0; tries < 2; tries++) {
    await assert.rejects(host.vocabulary({ agentId }, signal), { code: "UNAVAILABLE" });
  }
});

test("a thread that does not answer in time is ended", async () => {
  await assert.rejects(open({ hangMs: 1 }).vocabulary({ agentId }, signal), { code: "UNAVAILABLE" });
});

test("a database that is away is UNAVAILABLE, not a bug", async () => {
  const host = open({ addresses: addressesOf("postgresql://nobody@127.0.0.1:1/none") });
  await assert.rejects(host.vocabulary({ agentId }, signal), {
    code: "UNAVAILABLE",
    message: "The database is unavailable.",
    cause: "connect ECONNREFUSED 127.0.0.1:1",
  });
});

test("once closed nothing is asked any more, and what was open is refused", async () => {
  const host = open();
  const asked = assert.rejects(host.vocabulary({ agentId }, signal), { code: "UNAVAILABLE" });
  await host.close();
  await asked;
  await assert.rejects(host.vocabulary({ agentId }, signal), { code: "UNAVAILABLE" });
});
