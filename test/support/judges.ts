// Judges as a thread opens them: a real database, real clients, and a local server as the judge.

import pino from "pino";
import { clientOpener } from "../../src/judge/connections.ts";
import { Judges, type JudgesDeps } from "../../src/judge.ts";
import type { JudgeConnection } from "../../src/model/judge/call.ts";
import type { JudgeContext, SemanticQuestion } from "../../src/model/judge/judge.ts";
import type { TestCase } from "../../src/model/test-case/document.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import type { Database } from "../../src/store/db.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { Semaphore } from "../../src/threads/semaphore.ts";
import { makeTestCase } from "../store/traces/make-write.ts";
import { makeAgentRow } from "./rows.ts";

export const testVault = openVault(Buffer.alloc(32, 7));

/** `environment`: the judge of projects without their own; null: none. */
export function openTestJudges(
  db: Database,
  environment: JudgeConnection | null,
  more: Partial<JudgesDeps> = {},
): Judges {
  const log = pino({ level: "silent" });
  const outbound = openOutbound({ allow: ["127.0.0.0/8"] });
  return new Judges({
    db,
    vault: testVault,
    environment,
    timeoutMs: 60_000,
    openClient: clientOpener({
      outbound,
      log,
      semaphore: (_, concurrency) => new Semaphore(concurrency),
      ...(more.clock ? { clock: more.clock } : {}),
    }),
    log,
    ...more,
  });
}

/** An agent with stored tests, in a project that shares no cached answers. */
export async function makeJudgedAgent(
  db: Database,
  tests = 2,
): Promise<{ agentId: string; testIds: string[] }> {
  const agentId = await makeAgentRow(db);
  const made: TestCase[] = [];
  for (let count = 0; count < tests; count++) made.push(await makeTestCase(db, agentId, {}));
  return { agentId, testIds: made.map(({ id }) => id) };
}

/** For a user who tries something out, or for a run if one is named. */
export function contextOf(agentId: string, more: Partial<JudgeContext> = {}): JudgeContext {
  return { agentId, traceId: null, runId: null, deadlineAt: null, tries: 0, ...more };
}

/** A question about a short reply, with a single criterion by default. */
export function semanticQuestion(more: Partial<SemanticQuestion> = {}): SemanticQuestion {
  return {
    testId: "draft",
    assertionId: "a1",
    scenario: "The user asks where a parcel is.",
    userInput: "Where is my parcel?",
    response: "It is in Lyon and arrives on Tuesday.",
    criteria: ["Says where the parcel is."],
    threshold: 0.5,
    negate: false,
    ...more,
  };
}
