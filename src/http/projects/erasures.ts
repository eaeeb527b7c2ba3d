// /api/projects/:id/erasures and /api/erasures/:id: find everything about a user, a conversation or a text, and erase it.

import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { ErasureHolders } from "../../load/erasure-holders.ts";
import {
  type Criterion,
  criterionKinds,
  erasedBefore,
  foundOther,
  idMax,
  matchedMore,
  storedValues,
  textMax,
  textMin,
  traceIdsMax,
} from "../../model/erasure.ts";
import { Refusal } from "../../model/refusal.ts";
import { findAccountEmail } from "../../store/accounts/accounts.ts";
import {
  deleteErasure,
  dryRunMs,
  type Erasure as ErasureRow,
  findErasure,
  findSealed,
  insertDryRun,
  insertErasure,
  listDryRuns,
  listErasures,
  listMatches,
  type NewErasure,
  requireRoom,
} from "../../store/erasures.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { ExactText, Id, pageSchema } from "../frame/schemas.ts";
import { Erasure, ErasureDetail } from "./erasure-schemas.ts";
import { FoundHolders } from "./found-holders.ts";

/** Works on erasures in the background. */
export type Erasures = {
  wake(): void;
  holders(request: { id: string; projectId: string; criterion: Criterion }): Promise<ErasureHolders>;
};

export type ErasureDeps = Deps & { vault: Vault; erasures: Erasures };

/** A request waits this long, so that most are answered with the result. */
const answerMs = 3_000;
const pollMs = 30;

const Criteria = {
  userId: ExactText(idMax).optional(),
  conversationId: ExactText(idMax).optional(),
  externalId: ExactText(idMax)
    .optional()
    .describe("An `x-request-id` as sent, or an OTLP trace ID in any case."),
  traceIds: z.array(Id).min(1).max(traceIdsMax).optional(),
  text: ExactText(textMax)
    .min(textMin, `Must have at least ${textMin} characters.`)
    .optional()
    .describe("Found as it is, case-sensitive, anywhere in what is stored of a trace."),
};

const exactlyOne = (names: readonly string[]) => ({ oneOf: names.map(name => ({ required: [name] })) });

const Body = z
  .strictObject({
    ...Criteria,
    dryRun: z.literal(true).optional().describe("Finds, and erases nothing."),
    confirm: z
      .int()
      .min(0)
      .optional()
      .describe(
        "The number of traces that a dry run of the last hour found. Any other, or if more match by now: 409.",
      ),
  })
  .check(({ value, issues }) => {
    const refuse = (message: string) => issues.push({ code: "custom", path: [], message, input: value });
    if (criterionKinds.filter(kind => value[kind] !== undefined).length !== 1) {
      refuse(`Pass exactly one of ${criterionKinds.join(", ")}.`);
    }
    if ((value.dryRun === undefined) === (value.confirm === undefined)) {
      refuse("Pass either dryRun: true, or confirm with the number that a dry run found.");
    }
  })
  .meta({ allOf: [exactlyOne(criterionKinds), exactlyOne(["dryRun", "confirm"])] });

export function registerErasures(app: App, given: ErasureDeps): void {
  const route = routesOf(app, "erasures");
  const deps = { ...given, foundHolders: new FoundHolders() };
  const { db, vault, erasures } = deps;

  route("POST /api/projects/:id/erasures", {
    access: "erasure tokens",
    creates: "erasures",
    waits: true,
    summary: "Find everything about a user, a conversation or a text, or erase it",
    body: Body,
    status: 202,
    answer: ErasureDetail,
    handler: async ({ id: projectId, body, account }) => {
      const { confirm } = body;
      const kind = criterionKinds.find(one => body[one] !== undefined)!;
      const values = [body[kind]!].flat();
      const wanted: NewErasure = {
        projectId,
        createdBy: account.id,
        criterion: kind,
        sealed: { values },
      };
      await requireRoom(db, projectId);
      const id =
        confirm === undefined
          ? await insertDryRun(db, vault, wanted)
          : await insertConfirmed(deps, wanted, confirm);
      erasures.wake();
      const row = await awaited(deps, id, confirm === undefined ? isOpen : isFinding);
      if (confirm !== undefined && row.state === "failed" && row.matched > confirm) {
        // The record stays where waiting log records may have been erased.
        const erasedRecords = row.step === "joined";
        if (!erasedRecords) await deleteErasure(db, id);
        throw notConfirmed(matchedMore(row.matched, confirm), erasedRecords);
      }
      return detailOf(deps, row);
    },
  });

  route("GET /api/projects/:id/erasures", {
    access: "all tokens",
    summary: "List the erasures of a project, newest first, without dry runs",
    query: PageQuery,
    answer: pageSchema(Erasure),
    handler: async ({ id, query }) => {
      const { items, nextCursor } = pageOf(await listErasures(db, id, listingOf(query)), query);
      return { items: items.map(row => viewOf(row, row.createdByEmail)), nextCursor };
    },
  });

  route("GET /api/erasures/:id", {
    access: "all tokens",
    summary:
      "Get an erasure or a dry run: state, progress, and what a dry run found; dry runs are kept for an hour",
    answer: ErasureDetail,
    handler: async ({ id }) => detailOf(deps, found(await findErasure(db, id))),
  });

  async function insertConfirmed({ db, vault }: ErasureDeps, wanted: NewErasure, confirmed: number) {
    const dryRuns = await listDryRuns(db, vault, wanted);
    const [latest] = dryRuns;
    if (!latest) {
      throw new Refusal("CONFLICT", {
        message: `No dry run of this criterion has ended within the last ${dryRunMs / 60_000} minutes.`,
        hint: "Start a dry run, look at what it finds, then confirm its number.",
      });
    }
    // An earlier one may have found more, but a number that none found would confirm traces that nobody looked at.
    if (latest.matched > confirmed || !dryRuns.some(({ matched }) => matched === confirmed)) {
      throw notConfirmed(foundOther(latest.matched, confirmed));
    }
    return insertErasure(db, vault, wanted, { dryRun: latest, confirmed });
  }
}

const isOpen = ({ state }: ErasureRow) => state === "running";
const isFinding = (row: ErasureRow) => isOpen(row) && stepOf(row) === "find";

/** The erasure once `isPending` is false, or as it is after a few seconds. */
async function awaited(
  { db }: ErasureDeps,
  id: string,
  isPending: (row: ErasureRow) => boolean,
): Promise<ErasureRow> {
  const deadline = performance.now() + answerMs;
  for (;;) {
    const row = found(await findErasure(db, id));
    if (!isPending(row) || performance.now() > deadline) return row;
    await delay(pollMs);
  }
}

/** Its issue tells it from other conflicts. `why`: a sentence without its period. */
function notConfirmed(why: string, erasedRecords = false): Refusal {
  const message =
    "The number does not match. Start another dry run, look at what it finds, then confirm its number.";
  return new Refusal("CONFLICT", {
    message: `${why}. ${erasedBefore(erasedRecords)}.`,
    issues: [{ path: "confirm", message }],
  });
}

function stepOf({ step }: ErasureRow): Erasure["step"] {
  return ["waiting", "find", "turns", "check", "joined"].includes(step) ? "find" : "erase";
}

function viewOf(row: ErasureRow, createdBy: string | null): z.input<typeof Erasure> {
  const { id, projectId, dryRun, criterion, state, matched, erased, confirmed, error } = row;
  const { createdAt, finishedAt } = row;
  return {
    ...{ id, projectId, dryRun, criterion, state, matched, erased, confirmed, error, createdBy },
    ...{ createdAt, finishedAt },
    step: stepOf(row),
    progress: { read: Math.min(row.read, row.traces), of: row.traces },
  };
}

const noHolders: ErasureHolders = { tests: [], notes: [], views: [], more: false };

async function detailOf(
  { db, vault, erasures, foundHolders }: ErasureDeps & { foundHolders: FoundHolders },
  row: ErasureRow,
): Promise<z.input<typeof ErasureDetail>> {
  const email = row.createdBy === null ? null : await findAccountEmail(db, row.createdBy);
  const view = viewOf(row, email);
  const { id, projectId, criterion: kind } = row;
  if (!row.dryRun || row.state === "failed") return { ...view, ...noHolders, matches: [] };
  const matches = await listMatches(db, vault, id);
  const sealed = row.state === "done" ? await findSealed(db, vault, id) : undefined;
  if (!sealed) return { ...view, ...noHolders, matches };
  const criterion: Criterion = { kind, values: storedValues(kind, sealed.values) };
  const holders = await foundHolders.of(id, () => erasures.holders({ id, projectId, criterion }));
  return { ...view, ...holders, matches };
}
