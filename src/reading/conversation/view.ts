// The conversation view of a transcript, bounded in size: long texts are truncated, with the path to the full text.
import type { Passage, Piece, ShownConversation, Turn } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";
import type { ReadPiece } from "../span/message-parts.ts";
import { sourceOf } from "../span/sources.ts";
import type { Transcript } from "./transcript.ts";
import { type Entry, type SourcedValue, sourcedText } from "./transcript-entry.ts";

const turnsMax = 2_000;
const headTurns = 200;
const piecesMax = 20;
const nameMax = 300;
const textMax = 8_000;
const textMin = 200;
const charactersMax = 2_000_000;

/**
 * `spans`: those of the transcript. The first and the last turns; if all texts together are too long, every text is shortened by
 * the same share.
 */
export function showConversation({ entries, complete }: Transcript, spans: Span[] = []): ShownConversation {
  const byId = new Map(spans.map(span => [span.span_id, span]));
  const turnOf = (entry: Entry, max: number) => atSource(plainTurnOf(entry, max), byId);
  const count = Math.max(0, entries.length - turnsMax);
  const shown = count === 0 ? entries : [...entries.slice(0, headTurns), ...entries.slice(headTurns + count)];
  const whole = shown.map(entry => turnOf(entry, textMax));
  const characters = whole.reduce((sum, turn) => sum + charactersOf(turn), 0);
  const share = Math.max(textMin, Math.floor((textMax * charactersMax) / characters));
  const manyPieces = shown.some(entry => entry.kind === "message" && entry.pieces.length > piecesMax);
  return {
    turns: characters > charactersMax ? shown.map(entry => turnOf(entry, share)) : whole,
    omitted: count === 0 ? null : { after: headTurns, count },
    complete: complete && count === 0 && !manyPieces,
  };
}

/** With the attribute or event that was sent. Paths lead to the text in the span as conventions read it. */
function atSource(turn: Turn, spans: ReadonlyMap<string, Span>): Turn {
  const span = spans.get(turn.spanId);
  const source = span && turn.attribute !== null ? sourceOf(span, turn.attribute) : undefined;
  if (!source || turn.attribute === null) return turn;
  const { attribute, event, convention } = source;
  return { ...turn, attribute, event, translated: { as: turn.attribute, convention } };
}

function plainTurnOf(entry: Entry, max: number): Turn {
  const { spanId, attribute, event, agent } = entry;
  const shortAgent = agent && { ...agent, name: shortName(agent.name) };
  const place = { spanId, attribute, event, agent: shortAgent, translated: null };
  if (entry.kind === "message") {
    const pieces = entry.pieces.slice(0, piecesMax).map(piece => pieceOf(piece, spanId, max));
    return { ...place, kind: "message", role: shortName(entry.role), pieces };
  }
  const { durationMs, failed, error } = entry;
  return {
    ...place,
    kind: "tool_call",
    name: shortName(entry.name),
    arguments: passageOf(entry.arguments, max),
    result: passageOf(entry.result, max),
    error: error && shortName(error),
    durationMs,
    failed,
  };
}

function pieceOf(piece: ReadPiece, spanId: string, max: number): Piece {
  if (piece.kind === "media") return { kind: "media", name: shortName(piece.name) };
  const passage = cut(piece.text, { spanId, paths: piece.paths.slice(0, piecesMax) }, max);
  if (piece.kind === "other") return { kind: "other", name: shortName(piece.name), ...passage };
  return { kind: piece.kind, ...passage };
}

function passageOf(sourced: SourcedValue | null, max: number): Passage | null {
  if (sourced === null) return null;
  const { spanId, paths } = sourced;
  return cut(sourcedText(sourced), { spanId, paths }, max);
}

function cut(text: string, where: Omit<Passage, "text" | "length">, max: number): Passage {
  return { text: head(text, max), length: text.length, ...where };
}

/** Never splits a surrogate pair. */
function head(text: string, max: number): string {
  const start = text.slice(0, max);
  return start.length < text.length && /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start;
}

function shortName(name: string): string {
  return name.length > nameMax ? `${head(name, nameMax)}…` : name;
}

function charactersOf(turn: Turn): number {
  if (turn.kind === "tool_call") return (turn.arguments?.text.length ?? 0) + (turn.result?.text.length ?? 0);
  return turn.pieces.reduce((sum, piece) => sum + (piece.kind === "media" ? 0 : piece.text.length), 0);
}
