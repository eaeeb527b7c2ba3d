// Judging as a thread opens it: a real database, real lines, and a judge that some local server is.
import pino from "pino";
import { lineOpener } from "../../src/judging/judge-clients.ts";
import { type Judging, type JudgingDeps, openJudging } from "../../src/judging.ts";
import type { JudgeConnection } from "../../src/model/judge/call.ts";
import type { JudgeContext, SemanticQuestion } from "../../src/model/judge/judge.ts";
import type { TestCase } from "../../src/model/test-case/test-case.ts";
import { createSlots } from "../../src/remote/judge/semaphore.ts";
import { openOutbound } from "../../src/remote/outbound.ts";
import type { Database } from "../../src/store/db.ts";
import { openVault } from "../../src/store/secrets/vault.ts";
import { makeTestCase } from "../store/traces/make-write.ts";
import { makeAgentRow } from "./rows.ts";

export const testVault = openVault(Buffer.alloc(32, 7));

/** `environment`: who judges for projects without a connection of their own; null: nobody does. */
export function openTestJudging(
  db: Database,
  environment: JudgeConnection | null,
  more: Partial<JudgingDeps> = {},
): Judging {
  const log = pino({ level: "silent" });
  const outbound = openOutbound({ allow: ["127.0.0.0/8"] });
  return openJudging({
    db,
    vault: testVault,
    environment,
    openLine: lineOpener({ outbound, log, slotsOf: (_, concurrency) => createSlots(concurrency) }),
    log,
    ...more,
  });
}

/** An agent with stored tests, of a project that nobody else's answers serve. */
export async function makeJudgedAgent(
  db: Database,
  tests = 2,
): Promise<{ agentId: string; testIds: string[] }> {
  const agentId = await makeAgentRow(db);
  const made: TestCase[] = [];
  for (let count = 0; count < tests; count++) made.push(await makeTestCase(db, agentId, {}));
  return { agentId, testIds: made.map(({ id }) => id) };
}

/** On behalf of one who tries something out; of a run, where one is named. */
export function contextOf(agentId: string, more: Partial<JudgeContext> = {}): JudgeContext {
  return { agentId, traceId: null, runId: null, deadlineAt: null, tries: 0, ...more };
}

/** About a short reply; a single criterion unless told. */
export function semanticQuestion(more: Partial<SemanticQuestion> = {}): SemanticQuestion {
  return {
    testId: "draft",
    assertionId: "a1",
    scenario: "The user asks where a parcel is.",
    userInput: "Where is my parcel?",
    response: "It is in Lyon and arrives on Tuesday.",
    criteria: ["Says where the parcel is."],
    threshold: 0.5,
    ...more,
  };
}
