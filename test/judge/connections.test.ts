// Clients of judges: one for as long as the connection stays the same, a new one after any change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Connections, type OpenClient } from "../../src/judge/connections.ts";
import type { JudgeClient } from "../../src/remote/judge/client.ts";
import type { Database } from "../../src/store/db.ts";
import type { FoundJudge } from "../../src/store/judge/agent-judge.ts";
import { testVault } from "../support/judges.ts";

const connection: FoundJudge["connection"] = {
  provider: "openai_compatible",
  url: "http://127.0.0.1:11434/v1",
  model: "local-model",
  apiKey: null,
  concurrency: 1,
  tokensPerMinute: null,
  timeoutMs: 60_000,
};
const state: NonNullable<FoundJudge["state"]> = {
  mode: "tool",
  systemRole: true,
  temperature: true,
  testedAt: null,
  pausedAt: null,
  pausedReason: null,
  wait: null,
  lowCount: null,
};
const judge: FoundJudge = {
  connection,
  fingerprint: Buffer.alloc(32, 1),
  own: true,
  keyUnreadable: false,
  state,
  version: "1",
};

test("a client is opened for each project and after each change, never shared with the environment's", () => {
  const opened: Parameters<OpenClient>[1][] = [];
  const connections = new Connections({
    db: {} as Database,
    vault: testVault,
    environment: null,
    timeoutMs: 60_000,
    clock: { now: () => 0 },
    openClient(_connection, options) {
      opened.push(options);
      return {} as JudgeClient;
    },
  });
  const clientOf = connections.clientOf.bind(connections);
  const clients = [
    clientOf(judge, "p1"),
    clientOf(judge, "p2"),
    clientOf({ ...judge, own: false }, "p1"),
    clientOf({ ...judge, fingerprint: Buffer.alloc(32, 2) }, "p1"),
    clientOf({ ...judge, connection: { ...connection, concurrency: 2 } }, "p1"),
    clientOf({ ...judge, connection: { ...connection, tokensPerMinute: 1_000 } }, "p1"),
    clientOf({ ...judge, connection: { ...connection, timeoutMs: 1_000 } }, "p1"),
    clientOf({ ...judge, state: { ...state, testedAt: new Date(0) } }, "p1"),
  ];
  assert.equal(new Set(clients).size, 8);
  assert.equal(new Set(opened.map(({ name }) => name)).size, 8);
  assert.deepEqual(
    opened.map(({ userSupplied, mode }) => [userSupplied, mode]),
    Array.from({ length: 8 }, (_, at) => [at !== 2, "tool"]),
  );
  assert.equal(clientOf({ ...judge }, "p1"), clients[0]);
  assert.equal(clientOf({ ...judge, own: false }, "p2"), clients[2]);
});
