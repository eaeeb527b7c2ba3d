// The steps of an erasure: find, check the number, delete waiting log records, find traces that took one in the meantime and
// check the number again, delete what was made of drafted tests, the traces and identities, then what quotes a text elsewhere.

import type { ErasurePart, ErasureSearch } from "../../load/erasure.ts";
import type { ErasureHolders } from "../../load/erasure-holders.ts";
import type { QuotesRequest } from "../../load/erasure-quotes.ts";
import type { Recheck } from "../../load/erasure-recheck.ts";
import { type Criterion, erasedBefore, matchedMore } from "../../model/erasure.ts";
import type { Database } from "../../store/db.ts";
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
  turns(search: ErasureSearch): Promise<ErasurePart>;
  waiting(request: { projectId: string; criterion: Criterion }): Promise<void>;
  drafts(request: { id: string; projectId: string }): Promise<void>;
  quotes(request: QuotesRequest): Promise<string | null>;
  holders(request: { id: string; projectId: string; criterion: Criterion }): Promise<ErasureHolders>;
};

export type OpenErasure = Omit<WorkingErasure, "criterion"> & { criterion: Criterion };

/** `step`: where the next part is. */
export type Part = Progress & { isLast: boolean };

/** Cursor of the step "joined" once all traces were searched, and the number is still to be checked. */
const searchedCursor = "searched";

export async function partOf(
  db: Database,
  work: ErasureWork,
  erasure: OpenErasure,
  signal: AbortSignal,
): Promise<Part> {
  const { id, projectId, criterion, dryRun, since, cursor } = erasure;
  const search = { id, projectId, criterion, since, cursor };
  const next = (step: ErasureStep, more: Partial<Part> = {}): Part => ({
    ...{ step, cursor: null, read: 0, erased: 0, matches: [], unmatched: [], isLast: false },
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
      const part = await work.turns(search);
      return found(part, "turns", next("check", { isLast: dryRun }));
    }
    case "check":
      return isMore(erasure) ? next("check") : next("waiting");
    case "waiting":
      await work.waiting({ projectId, criterion });
      return next("joined");
    case "joined": {
      if (isMore(erasure)) return next("joined", { cursor });
      if (cursor === searchedCursor) return next("drafts");
      // A record may have left the waiting ones for a trace that had been read by then.
      const { matches, cursor: at } = await work.find(search, signal);
      return next("joined", { matches, cursor: at ?? searchedCursor });
    }
    // Before the traces: which tests were drafted from them is not known after.
    case "drafts":
      await work.drafts({ id, projectId });
      return next("traces");
    case "traces": {
      const matches = await listNextMatches(db, id);
      if (matches.length === 0) return next("identities");
      const checked = await work.recheck({ projectId, criterion, since, matches }, signal);
      return next("traces", { erased: await eraseMatches(db, id, checked) });
    }
    case "identities": {
      const at = await eraseIdentities(db, { projectId, criterion, cursor }, signal);
      return at === null ? next("quotes") : next("identities", { cursor: at });
    }
    case "quotes": {
      const at = await work.quotes({ projectId, criterion, cursor });
      return next("quotes", { cursor: at, isLast: at === null });
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
