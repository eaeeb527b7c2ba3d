// Text for a terminal of at least 100 columns: truncated, padded, and colored only where colors are shown.

import { styleText } from "node:util";
import type { Outcome } from "../src/model/run/outcome.ts";

export const outcomes: Outcome[] = ["passed", "failed", "skipped", "missing_instrumentation"];

export const outcomeLabels: Record<Outcome, string> = {
  passed: "Passed",
  failed: "Failed",
  skipped: "Skipped",
  missing_instrumentation: "Missing instrumentation",
};

const colors = {
  passed: "green",
  failed: "red",
  skipped: "gray",
  missing_instrumentation: "yellow",
} as const;

/** In the outcome's color, if standard output is a terminal and NO_COLOR is not set. */
export function colored(outcome: Outcome, text: string): string {
  return styleText(colors[outcome], text, { stream: process.stdout });
}

export function dim(text: string): string {
  return styleText("dim", text, { stream: process.stdout });
}

export function bold(text: string): string {
  return styleText("bold", text, { stream: process.stdout });
}

/** Prints a line that the next one replaces; prints nothing if standard output is not a terminal. */
export function showProgress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${text}`);
}

export function clearProgress(): void {
  showProgress("");
}

/** On one line of at most `width` characters. */
export function truncate(text: string, width: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > width ? `${line.slice(0, width - 1).trimEnd()}…` : line;
}

/** The text in lines of at most `width` characters, broken between words. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
