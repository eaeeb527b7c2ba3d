// Finds what stands for redacted values in the prompts and answers of a run's judge calls.
import { RedactedWords } from "../../evaluate/redacted-words.ts";
import type { HeapSemaphore } from "../../load/heap-semaphore.ts";
import { holdTraces, readMarked } from "../../load.ts";
import { builtInRules } from "../../model/redaction/rules.ts";
import type { PlacesOfRule } from "../../model/redaction.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Span } from "../../model/trace/trace.ts";
import type { Database } from "../../store/db.ts";
import type { KeptCall } from "../../store/judge/calls.ts";
import { findRun, type RunRow } from "../../store/runs/read.ts";
import { listTurns } from "../../store/runs/turns.ts";
import { findTraceSize } from "../../store/traces/read.ts";

export type CallRedactions = { materialRedactions: PlacesOfRule[]; answerRedactions: PlacesOfRule[] };

/** A larger trace has no marks here. */
export const markedBytesMax = 16 * 1024 * 1024;

/**
 * By call. The judge is told which placeholders stand for redacted values, not where: one that somebody typed as well, in the
 * trace or in a test, is left as it is.
 */
export async function redactionsOfCalls(
  db: Database,
  heap: HeapSemaphore,
  runId: string,
  calls: KeptCall[],
): Promise<(call: KeptCall) => CallRedactions> {
  const run = calls.some(({ instructions }) => toldIn(instructions) !== null)
    ? await findRun(db, runId)
    : null;
  const words = run ? await wordsOf(db, heap, run) : null;
  return ({ instructions, material, answer }) => {
    const told = toldIn(instructions);
    const asked = askedIn(instructions);
    const find = (text: string | null) => {
      if (!words || !told || text === null) return [];
      const withheld = told.filter(rule => !words.rules.includes(rule));
      return words.said.in(text, withheld, asked);
    };
    return { materialRedactions: find(material), answerRedactions: find(answer) };
  };
}

/** In every prompt, after what is asked. */
const note = "The mark is ";

/** What the judge was asked; what follows is about the material. */
function askedIn(instructions: string): string {
  const at = instructions.lastIndexOf(note);
  return at === -1 ? instructions : instructions.slice(0, at);
}

/** The built-in rules whose placeholders the judge was told about; null if it was told about none of any rule. */
function toldIn(instructions: string): string[] | null {
  const told = instructions.slice(askedIn(instructions).length);
  if (!/"(?:\[[a-z0-9_-]+\]|p_…)"/.test(told)) return null;
  return builtInRules.filter(rule => told.includes(`"[${rule}]"`));
}

type Words = { said: RedactedWords; rules: string[] };

async function wordsOf(db: Database, heap: HeapSemaphore, run: RunRow): Promise<Words | null> {
  const turns = run.kind === "manual" ? ((await listTurns(db, [run.id])).get(run.id) ?? []) : null;
  const ids = turns ? turns.map(({ traceId }) => traceId) : [run.traceId];
  const sizes = [];
  for (const id of ids) sizes.push(id === null ? undefined : await findTraceSize(db, id));
  const bytes = sizes.reduce((sum, size) => sum + (size?.bytes ?? Infinity), 0);
  // The judge was asked about what the trace was then.
  const isSame = turns !== null || sizes[0]?.revision === run.revision;
  if (bytes > markedBytesMax || !isSame) return null;
  const held = await holdTraces(db, ids as string[], heap).catch(unlessTooLarge);
  try {
    if (!held || held.traces.length !== ids.length) return null;
    const rules = new Set<string>();
    const spans: Span[] = [];
    for (const loaded of held.traces) {
      for (const { rule } of loaded.trace.redactions ?? []) rules.add(rule);
      spans.push(...(readMarked(loaded) ?? loaded).read.spans);
    }
    return { said: new RedactedWords(spans, [...rules]), rules: [...rules] };
  } finally {
    held?.release();
  }
}

function unlessTooLarge(error: unknown): undefined {
  if (error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE") return undefined;
  throw error;
}
