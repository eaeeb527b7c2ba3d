// A passage that a judge quoted from the reply: its name in the URL, and its message in the conversation.

import type { RunDetail } from "../../../src/http/traces/run-schemas.ts";
import type { Evidence, SemanticActual } from "../../../src/model/run/run.ts";
import type { Turn } from "../../../src/model/trace/shown.ts";
import { findQuotation } from "../../quotation.ts";

/** One criterion of a semantic check; `at` counts from 0. */
export type QuotePlace = { testId: string; checkId: string; at: number };

export type Quoted = {
  /** In the URL. */
  name: string;
  text: string;
  /** The attributes with the judged texts. */
  places: Evidence[];
};

/** Contains no text of the trace, because URLs end up in logs and histories. */
export function quoteName({ testId, checkId, at }: QuotePlace): string {
  return `${testId}.${at + 1}.${checkId}`;
}

/** Undefined if the run has no such quotation. */
export function quotedIn(run: RunDetail | undefined, name: string | undefined): Quoted | undefined {
  const [, testId, number, checkId] = /^([^.]+)\.(\d+)\.(.*)$/s.exec(name ?? "") ?? [];
  const result = run?.results.find(one => one.testId === testId);
  const check = result?.checks.find(({ id, type }) => id === checkId && type === "semantic");
  const actual = check?.actual as Partial<SemanticActual> | null | undefined;
  const text = actual?.criteria?.[Number(number) - 1]?.evidence;
  return name && check && text ? { name, text, places: check.evidence } : undefined;
}

/**
 * The turn with the passage, preferably from a judged attribute, and the last of several. A turn that is only loaded in
 * part may have it in the rest. Undefined if no turn has it.
 */
export function turnQuoted(turns: Turn[], { text, places }: Quoted): number | undefined {
  const isJudged = ({ spanId, attribute }: Turn) =>
    places.some(place => place.spanId === spanId && place.attribute === attribute);
  const ranks = turns.map((turn): number => {
    if (turn.kind !== "message") return 0;
    const texts = turn.pieces.filter(piece => piece.kind === "text" || piece.kind === "refusal");
    const judged = isJudged(turn);
    if (texts.some(piece => findQuotation(piece.text, text))) return judged ? 4 : 3;
    return texts.some(piece => piece.text.length < piece.length) ? (judged ? 2 : 1) : 0;
  });
  const best = Math.max(0, ...ranks);
  return best === 0 ? undefined : ranks.lastIndexOf(best);
}
