// Stores a turn of a manual run with what the agent said redacted by the rules of its project.

import type { StoringRules } from "../model/privacy.ts";
import { sumOf } from "../model/redaction.ts";
import type { RedactedTurn } from "../model/run/launch.ts";
import { redactorOf } from "../redaction/of-project.ts";
import type { Database } from "../store/db.ts";
import type { ManualRun } from "../store/runs/manual-claims.ts";
import { saveTurn } from "../store/runs/turns.ts";
import { retryTransient } from "./retry.ts";

export type StoringOf = {
  /** What the agent's project redacts now, and the revision of its privacy settings. */
  storingOf: (agentId: string) => Promise<{ revision: number; storing: StoringRules | null }>;
};

const triesMax = 10;

/** Redacts the turn itself too: from then on, nothing that is evaluated has the text. False if the turn was deleted. */
export async function saveRedacted(
  { db, storingOf }: StoringOf & { db: Database },
  run: Pick<ManualRun, "id" | "agentId">,
  turn: RedactedTurn,
  signal: AbortSignal,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const { revision, storing } = await retryTransient(signal, () => storingOf(run.agentId));
    redactTurn(turn, storing);
    const outcome = await retryTransient(signal, () => saveTurn(db, run, turn, revision));
    if (outcome !== "changed") return outcome === "saved";
    if (tries === triesMax) throw new Error("The privacy settings change faster than a turn is stored.");
  }
}

function redactTurn(turn: RedactedTurn, storing: StoringRules | null): void {
  const redactor = storing && redactorOf(storing);
  if (!redactor) return;
  const sent = redactor.text(turn.input);
  const sentRedactions = sumOf([sent.counts]);
  if (sent.text !== turn.input)
    turn.sent = { text: sent.text, ...(sentRedactions && { redactions: sentRedactions }) };
  // Redacted again, or read from its trace, a turn keeps what was redacted first.
  const known = new Set(Object.keys(turn.redactions ?? {}));
  const reply = redactor.text(turn.text ?? "", { known });
  const reason = redactor.text(turn.error?.reason ?? "", { known });
  const redactions = sumOf([turn.redactions, reply.counts, reason.counts]);
  if (turn.text) turn.text = reply.text;
  if (turn.error) turn.error = { ...turn.error, reason: reason.text };
  if (redactions) turn.redactions = redactions;
}
