// The steps of an erasure: find, check the number, delete waiting log records, find traces that took one in the meantime and
// check the number again, edit what was chosen, delete the traces and identities, then edit the copies.

import type { ErasurePart, ErasureSearch } from "../../load/erasure.ts";
import type { CopiesRequest } from "../../load/erasure-copies.ts";
import type { ChosenEdits, ErasureHolders } from "../../load/erasure-holders.ts";
import type { Recheck } from "../../load/erasure-recheck.ts";
import { type Criterion, type ErasureChoices, erasedBefore, matchedMore } from "../../model/erasure.ts";
import type { Database } from "../../store/db.ts";
import { hasOlderRuns } from "../../store/erasures/copies.ts";
import {
  type CheckedMatch,
  eraseMatches,
  listNextMatches,
  type Progress,
  type WorkingErasure,
} from "../../store/erasures/progress.ts";
import type { ErasureStep } from "../../store/erasures.ts";
import { eraseIdentities } from "./identities.ts";

/** What an erasure does on a thread. */
export type ErasureWork = {
  find(search: ErasureSearch, signal?: AbortSignal): Promise<ErasurePart>;
  recheck(request: Recheck, signal?: AbortSignal): Promise<CheckedMatch[]>;
  /** `deletes`: turns that have no trace are deleted. */
  turns(request: ErasureSearch & { deletes: boolean }, signal?: AbortSignal): Promise<ErasurePart>;
  waiting(request: { projectId: string; criterion: Criterion }): Promise<void>;
  /** How many were changed. */
  edit(request: ChosenEdits): Promise<number>;
  copies(request: CopiesRequest): Promise<string | null>;
  holders(request: { id: string; projectId: string; criterion: Criterion }): Promise<ErasureHolders>;
};

export type OpenErasure = Omit<WorkingErasure, "criterion"> & {
  criterion: Criterion;
  choices: ErasureChoices;
};

/** `step`: where the next part is. */
export type Part = Progress & { isLast: boolean };

const settleMaxMs = 600_000;
const settlePollMs = 500;

/** Cursor of the step "joined" once all traces were searched, and the number is still to be checked. */
const searchedCursor = "searched";

export async function partOf(
  db: Database,
  work: ErasureWork,
  erasure: OpenErasure,
  signal: AbortSignal,
): Promise<Part> {
  const { id, projectId, criterion, choices, dryRun, since, cursor } = erasure;
  const search = { id, projectId, criterion, since, cursor };
  const next = (step: ErasureStep, more: Partial<Part> = {}): Part => ({
    ...{
      step,
      cursor: null,
      read: 0,
      erased: 0,
      edited: 0,
      matches: [],
      unmatched: [],
      waitMs: 0,
      isLast: false,
    },
    ...more,
  });
  const found = (part: ErasurePart, here: ErasureStep, then: Part): Part => {
    const { matches, unmatched, read } = part;
    if (part.cursor === null) return { ...then, matches, unmatched, read };
    return next(here, { matches, unmatched, read, cursor: part.cursor });
  };
  switch (erasure.step) {
    case "find":
      return found(await work.find(search, signal), "find", next("turns"));
    case "turns": {
      const part = await work.turns({ ...search, deletes: false }, signal);
      return found(part, "turns", next("check", { isLast: dryRun }));
    }
    case "check":
      return isMore(erasure) ? next("check") : next("waiting");
    case "waiting":
      await work.waiting({ projectId, criterion });
      return next("joined");
    case "joined": {
      if (isMore(erasure)) return next("joined", { cursor });
      if (cursor === searchedCursor) return next("chosen");
      // A record may have left the waiting ones for a trace that had been read by then.
      const { matches, cursor: at } = await work.find(search, signal);
      return next("joined", { matches, cursor: at ?? searchedCursor });
    }
    // Before the traces: which tests were drafted from them is not known after.
    case "chosen":
      return next("traces", { edited: await work.edit({ id, projectId, criterion, choices }) });
    case "traces": {
      const matches = await listNextMatches(db, id);
      if (matches.length === 0) return next("identities");
      const checked = await work.recheck({ projectId, criterion, since, matches }, signal);
      return next("traces", { erased: await eraseMatches(db, id, checked) });
    }
    case "identities": {
      const at = await eraseIdentities(db, { projectId, criterion, cursor }, signal);
      return at === null
        ? next("settle", { cursor: new Date().toISOString() })
        : next("identities", { cursor: at });
    }
    // An evaluation that began with a test as it was stores a copy of it.
    case "settle": {
      const edited = new Date(cursor ?? Date.now());
      const waits = choices.testIds.length > 0 && Date.now() - edited.getTime() < settleMaxMs;
      if (!waits || !(await hasOlderRuns(db, projectId, edited))) return next("runs");
      return next("settle", { cursor, waitMs: settlePollMs });
    }
    case "runs": {
      // Traces that it finds now arrived later.
      const part = await work.turns({ ...search, deletes: true }, signal);
      return part.cursor === null ? next("copies") : next("runs", { cursor: part.cursor });
    }
    case "copies": {
      const everywhere = choices.testIds.length > 0;
      const at = await work.copies({ projectId, criterion, everywhere, cursor });
      return next("copies", { cursor: at, isLast: at === null });
    }
  }
}

/** How the erasure ends with this part, or null. */
export function endOf(
  erasure: OpenErasure,
  { isLast }: Part,
): { state: "done" } | { state: "failed"; error: string } | null {
  const isCounted = erasure.step === "check" || erasure.step === "joined";
  if (isCounted && isMore(erasure)) return { state: "failed", error: moreMatches(erasure) };
  return isLast ? { state: "done" } : null;
}

function isMore({ confirmed, matched }: OpenErasure): boolean {
  return confirmed !== null && matched > confirmed;
}

function moreMatches({ step, matched, confirmed }: OpenErasure): string {
  return `${erasedBefore(step === "joined")}: ${matchedMore(matched, confirmed ?? 0)}. Start another dry run.`;
}
