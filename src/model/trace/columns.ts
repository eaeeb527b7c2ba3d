// The few derived values that a trace's row holds, because lists show them and filter by them.
import type { Derived } from "./trace.ts";

export type TraceColumns = {
  name: string;
  durationMs: number | null;
  httpStatus: number | null;
  inputTokens: number | null;
  outputTokens: number | null;
  reasoningTokens: number | null;
  failed: boolean;
  spanCount: number;
  /** At most 500 characters. */
  userInput: string | null;
  /** At most 500 characters. */
  responseText: string | null;
};

const textMax = 500;

/** What of a trace's derived values goes into its row. Safe for PostgreSQL whatever the spans held. */
export function columnsOf(derived: Derived): TraceColumns {
  return {
    name: storable(derived.name),
    durationMs: derived.durationMs,
    httpStatus: smallInteger(derived.httpStatus?.value ?? null),
    inputTokens: count(derived.tokens.input),
    outputTokens: count(derived.tokens.output),
    reasoningTokens: count(derived.tokens.reasoning),
    failed: derived.failed,
    spanCount: derived.spanCount,
    userInput: derived.userInput && storable(derived.userInput.text),
    responseText: derived.responseText && storable(derived.responseText.text),
  };
}

/**
 * A text column's form of any string: shortened, U+0000 (which PostgreSQL refuses) and lone surrogates (which
 * UTF-8 cannot bear) shown as U+FFFD. The spans themselves keep the string as it was sent.
 */
export function storable(text: string): string {
  const short = text.length > textMax ? `${text.slice(0, textMax - 1)}…` : text;
  return (short.includes("\0") ? short.replaceAll("\0", "\uFFFD") : short).toWellFormed();
}

/** Whether the text in a column is the whole string, character for character. */
export function isWhole(stored: string): boolean {
  return stored.length < textMax && !stored.includes("\uFFFD");
}

function smallInteger(value: number | null): number | null {
  return value !== null && Number.isInteger(value) && Math.abs(value) < 2 ** 31 ? value : null;
}

function count(value: number | null): number | null {
  return value !== null && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : null;
}
