// Keeps every call before its answer is used; while the database is away, calls wait and none is forgotten.
import type { Logger } from "pino";
import { type Database, isTransient } from "../store/db.ts";
import { deleteOldJudgeAnswers } from "../store/judge/answers.ts";
import { type CallEntry, countCached, keepJudgeCall } from "../store/judge/calls.ts";

export type Ledger = {
  /** Resolves once the call is kept, or waits for a database that is away. */
  keep(entry: CallEntry): Promise<void>;
  /** Questions that needed no call. */
  countCached(agentId: string, questions: number): void;
  /** Writes what waits. */
  close(): Promise<void>;
};

const writeAfterMs = 1_000;
// Some 20 KB each, and as many as a busy hour brings.
const entriesMax = 2_000;
const deleteEveryMs = 3_600_000;

export function openLedger(db: Database, log: Pick<Logger, "error" | "warn">): Ledger {
  const cached = new Map<string, number>();
  let waiting: CallEntry[] = [];
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();

  const tell = (error: unknown) => {
    if (isTransient(error))
      log.warn({ err: (error as Error).message }, "calls of the judge wait for the database");
    else log.error({ err: error }, "what judging took cannot be kept");
  };

  /** Whether it need not be tried again. */
  async function done(write: Promise<void>): Promise<boolean> {
    try {
      await write;
      return true;
    } catch (error) {
      tell(error);
      return !isTransient(error);
    }
  }

  function count(agentId: string, questions: number): void {
    cached.set(agentId, (cached.get(agentId) ?? 0) + questions);
  }

  function later(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      write();
    }, writeAfterMs).unref();
  }

  /** One after the other, so that a slow database meets one statement at a time. */
  function write(): void {
    writing = writing.then(async () => {
      // Where one cannot be written yet, the others need not wait for a database that is away, one by one.
      while (waiting[0] && (await done(keepJudgeCall(db, waiting[0])))) waiting.shift();
      waiting = waiting.slice(-entriesMax);
      for (const [agentId, questions] of waiting.length > 0 ? [] : [...cached]) {
        cached.delete(agentId);
        if (await done(countCached(db, agentId, questions))) continue;
        count(agentId, questions);
        break;
      }
      if (waiting.length + cached.size > 0) later();
    });
  }

  const deleteOld = () => void deleteOldJudgeAnswers(db).catch(tell);
  const deleting = setInterval(deleteOld, deleteEveryMs).unref();
  deleteOld();

  return {
    async keep(entry) {
      if (await done(keepJudgeCall(db, entry))) return;
      waiting.push(entry);
      later();
    },
    countCached(agentId, questions) {
      if (questions === 0) return;
      count(agentId, questions);
      later();
    },
    async close() {
      clearInterval(deleting);
      clearTimeout(timer);
      write();
      await writing;
      clearTimeout(timer);
    },
  };
}
