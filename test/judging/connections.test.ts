// Lines to judges: one for as long as nothing about the connection changes, another as soon as anything does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type LineOpener, openConnections } from "../../src/judging/connections.ts";
import type { JudgeLine } from "../../src/model/judge/call.ts";
import type { Database } from "../../src/store/db.ts";
import type { FoundJudge } from "../../src/store/judge/agent-judge.ts";
import { testVault } from "../support/judging.ts";

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
  testedAt: null,
  pausedAt: null,
  pausedReason: null,
};
const judge: FoundJudge = {
  connection,
  fingerprint: Buffer.alloc(32, 1),
  own: true,
  keyUnreadable: false,
  state,
};

test("a line is opened anew for another project and for whatever changes, never shared with the service's own", () => {
  const opened: Parameters<LineOpener>[1][] = [];
  const { lineTo } = openConnections({
    db: {} as Database,
    vault: testVault,
    environment: null,
    clock: { now: () => 0 },
    openLine(_connection, options) {
      opened.push(options);
      return {} as JudgeLine;
    },
  });
  const lines = [
    lineTo(judge, "p1"),
    lineTo(judge, "p2"),
    lineTo({ ...judge, own: false }, "p1"),
    lineTo({ ...judge, fingerprint: Buffer.alloc(32, 2) }, "p1"),
    lineTo({ ...judge, connection: { ...connection, concurrency: 2 } }, "p1"),
    lineTo({ ...judge, connection: { ...connection, tokensPerMinute: 1_000 } }, "p1"),
    lineTo({ ...judge, connection: { ...connection, timeoutMs: 1_000 } }, "p1"),
    lineTo({ ...judge, state: { ...state, testedAt: new Date(0) } }, "p1"),
  ];
  assert.equal(new Set(lines).size, 8);
  assert.equal(new Set(opened.map(({ name }) => name)).size, 8);
  assert.deepEqual(
    opened.map(({ typed, mode }) => [typed, mode]),
    Array.from({ length: 8 }, (_, at) => [at !== 2, "tool"]),
  );
  assert.equal(lineTo({ ...judge }, "p1"), lines[0]);
  assert.equal(lineTo({ ...judge, own: false }, "p2"), lines[2]);
});
