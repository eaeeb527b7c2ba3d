// Stores a turn of a manual run with what the agent said redacted by the rules of its project.

import type { StoringRules } from "../model/privacy.ts";
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
  if (sent.found.length > 0) turn.sent = { text: sent.text, redactions: sent.found };
  if (turn.text) {
    const { text, found } = redactor.text(turn.text);
    turn.text = text;
    // Redacted again, a turn keeps what was found first.
    if (found.length > 0) turn.redactions = found;
  }
  if (turn.error) {
    const { text, found } = redactor.text(turn.error.reason);
    turn.error = { ...turn.error, reason: text };
    if (found.length > 0) turn.errorRedactions = found;
  }
}
