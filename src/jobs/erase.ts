// Works on erasures: a part at a time, by turns of accounts and their erasures.
import type { Logger } from "pino";
import { pseudonymsNotSearched, storedValues } from "../model/erasure.ts";
import { pseudonymOf } from "../model/privacy.ts";
import { Refusal } from "../model/refusal.ts";
import { findPseudonymKey } from "../store/accounts/privacy.ts";
import { type Database, isTransient } from "../store/db.ts";
import {
  endErasure,
  moveErasure,
  nextErasure,
  postponeErasure,
  type WorkingErasure,
} from "../store/erasures/progress.ts";
import { openSealed } from "../store/erasures.ts";
import { unreadableSecret, type Vault } from "../store/secrets/vault.ts";
import { type ErasureWork, endOf, partOf } from "./erase/steps.ts";
import { type Job, unquoted } from "./job.ts";

export type EraseDeps = {
  db: Database;
  vault: Vault;
  /** What reads traces and deletes what quotes them, on a thread. */
  work: ErasureWork;
  log: Logger;
};

const everyMs = 5_000;
const attemptsMax = 5;
const retryMs = 5_000;

export function erase(deps: EraseDeps): Job {
  const { db } = deps;
  return {
    name: "erase",
    fault: "erasures cannot be worked on",
    everyMs,
    alone: true,
    quotes: true,
    async step(signal) {
      const erasure = await nextErasure(db);
      if (!erasure) return false;
      if (erasure.waitMs > 0) return Math.min(erasure.waitMs, everyMs);
      try {
        await doPart(deps, erasure, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        await postpone(deps, erasure, error);
      }
      return true;
    },
  };
}

async function doPart(
  { db, vault, work }: EraseDeps,
  erasure: WorkingErasure,
  signal: AbortSignal,
): Promise<void> {
  const { id, criterion: kind, projectId } = erasure;
  const sealed = erasure.sealed && openSealed(vault, id, erasure.sealed);
  if (!sealed) {
    const error = `The criterion ${unreadableSecret}.`;
    return endErasure(db, erasure, { state: "failed", error });
  }
  const isId = kind === "userId" || kind === "conversationId";
  const { key, createdAt } = isId ? await findPseudonymKey(db, vault, projectId) : noKey;
  const pseudonyms = key === null ? [] : [pseudonymOf(key, sealed.values[0]!)];
  const criterion = { kind, values: [...storedValues(kind, sealed.values), ...pseudonyms] };
  const open = { ...erasure, criterion };
  const part = await partOf(db, work, open, signal);
  const matched = await moveErasure(db, vault, erasure, part);
  // Another process has moved it.
  if (matched === undefined) return;
  const moved = { ...open, step: part.step, cursor: part.cursor, matched };
  const end = endOf(moved, part);
  const error = key === null && createdAt !== null ? pseudonymsNotSearched : null;
  if (end) await endErasure(db, moved, { error, ...end });
}

const noKey = { key: null, createdAt: null };

async function postpone({ db, log }: EraseDeps, erasure: WorkingErasure, error: unknown): Promise<void> {
  const { id, attempts } = erasure;
  const isUnavailable = isTransient(error) || (error instanceof Refusal && error.code === "UNAVAILABLE");
  if (isUnavailable) {
    log.warn({ erasureId: id }, "an erasure is interrupted; it will continue");
    const reason = "Interrupted: the database or the erasure thread was unavailable.";
    return postponeErasure(db, erasure, { error: reason, pauseMs: retryMs });
  }
  log.error({ erasureId: id, err: unquoted(error) }, "an erasure failed");
  if (attempts + 1 >= attemptsMax) {
    return endErasure(db, erasure, { state: "failed", error: "Internal error; see the service log." });
  }
  const reason = `Internal error; see the service log. Attempt ${attempts + 1} of ${attemptsMax}.`;
  return postponeErasure(db, erasure, { error: reason, pauseMs: retryMs * 2 ** attempts });
}
