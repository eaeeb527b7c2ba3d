// Finds what stands for redacted values in the prompts and answers of judge calls about traces.
import { RedactedWords } from "../evaluate/redacted-words.ts";
import type { HeapSemaphore } from "../load/heap-semaphore.ts";
import { holdTraces, readMarked } from "../load.ts";
import type { JudgeCall } from "../model/judge/call.ts";
import { builtInRules, type PlacesOfRule } from "../model/redaction.ts";
import type { Span } from "../model/trace/trace.ts";
import type { Database } from "../store/db.ts";

export type CallTexts = Pick<JudgeCall, "instructions" | "material" | "answer">;

/** `traceIds`: what the calls were about. */
export type CallsAbout = { traceIds: string[]; calls: CallTexts[] };

export type CallRedactions = { materialRedactions: PlacesOfRule[]; answerRedactions: PlacesOfRule[] };

/**
 * By call. The judge is told which placeholders stand for redacted values, not where: one that somebody typed as well, in the
 * trace or in a test, is left as it is. Undefined if a trace was deleted. Throws PAYLOAD_TOO_LARGE.
 */
export async function redactionsOfCalls(
  db: Database,
  heap: HeapSemaphore,
  { traceIds, calls }: CallsAbout,
): Promise<CallRedactions[] | undefined> {
  const held = await holdTraces(db, traceIds, heap);
  try {
    if (!held || held.traces.length !== traceIds.length) return undefined;
    const rules = new Set<string>();
    const spans: Span[] = [];
    for (const loaded of held.traces) {
      for (const { rule } of loaded.trace.redactions ?? []) rules.add(rule);
      spans.push(...(readMarked(loaded) ?? loaded).read.spans);
    }
    const said = new RedactedWords(spans, [...rules]);
    return calls.map(call => redactionsOf(call, said, rules));
  } finally {
    held?.release();
  }
}

function redactionsOf(
  { instructions, material, answer }: CallTexts,
  said: RedactedWords,
  rules: Set<string>,
): CallRedactions {
  const told = rulesToldIn(instructions);
  const asked = askedIn(instructions);
  const find = (text: string | null) => {
    if (!told || text === null) return [];
    const withheld = told.filter(rule => !rules.has(rule));
    return said.in(text, withheld, asked);
  };
  return { materialRedactions: find(material), answerRedactions: find(answer) };
}

/** In every prompt, after what is asked. */
const note = "The mark is ";

/** What the judge was asked; what follows is about the material. */
function askedIn(instructions: string): string {
  const at = instructions.lastIndexOf(note);
  return at === -1 ? instructions : instructions.slice(0, at);
}

/** The built-in rules whose placeholders the judge was told about; null if it was told about none of any rule. */
export function rulesToldIn(instructions: string): string[] | null {
  const told = instructions.slice(askedIn(instructions).length);
  if (!/"(?:\[[a-z0-9_-]+\]|p_…)"/.test(told)) return null;
  return builtInRules.filter(rule => told.includes(`"[${rule}]"`));
}
