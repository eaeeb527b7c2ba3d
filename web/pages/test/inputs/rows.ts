// The rows of a test's inputs as lists: reading, changing and pasting them, and how many runs they make.
import { numberText } from "../../../format.ts";
import { isRecord } from "../../../record.ts";
import { inputsMax } from "./candidates.ts";

/** As in the document: each row should be `{ input }`, but may be anything while the JSON is being written. */
export type Rows = readonly unknown[];

/** Undefined if `inputs` is there and no list. */
export function rowsOf(inputs: unknown): Rows | undefined {
  return inputs === undefined ? [] : Array.isArray(inputs) ? inputs : undefined;
}

/** A value of the wrong type is shown as JSON, so that the user can fix it. */
export function textOf(row: unknown): string {
  const input = isRecord(row) ? row["input"] : row;
  return typeof input === "string" ? input : input === undefined ? "" : JSON.stringify(input);
}

export function isBlank(row: unknown): boolean {
  return !/\S/.test(textOf(row));
}

export function withText(rows: Rows, at: number, input: string): unknown[] {
  const row = rows[at];
  return rows.with(at, { ...(isRecord(row) && row), input });
}

/**
 * The inputs in place of the row, or before it if it has a text by now; `left` do not fit. The caret belongs in the
 * row `last`: the last of the inputs, or the one with the text.
 */
export function pasted(rows: Rows, at: number, inputs: readonly string[]) {
  const replaced = at < rows.length && isBlank(rows[at]) ? 1 : 0;
  const fitting = inputs.slice(0, Math.max(0, inputsMax - (rows.length - replaced)));
  const next = rows.toSpliced(at, replaced, ...fitting.map(input => ({ input })));
  return {
    rows: next,
    left: inputs.length - fitting.length,
    last: Math.min(at + fitting.length - replaced, next.length - 1),
  };
}

/** The rows that have a text, and the inputs after them. */
export function extended(rows: Rows, inputs: readonly string[]): unknown[] {
  return [...rows.filter(row => !isBlank(row)), ...inputs.map(input => ({ input }))];
}

/** Undoes an addition, wherever the rows are now: without one row for each of these inputs. Edited rows stay. */
export function withoutAdded(rows: Rows, inputs: readonly string[]): unknown[] {
  const added = inputs.toReversed();
  return rows
    .toReversed()
    .filter(row => {
      const at = added.indexOf(textOf(row));
      if (at >= 0) added.splice(at, 1);
      return at < 0;
    })
    .reverse();
}

/**
 * Makes pasted inputs a single one, wherever the rows are now: the text, in place of the first of them. Edited rows stay.
 */
export function asOneInput(rows: Rows, inputs: readonly string[], text: string): unknown[] {
  const others = withoutAdded(rows, inputs);
  const first = rows.findIndex((row, at) => row !== others[at]);
  return others.toSpliced(first < 0 ? others.length : first, 0, { input: text });
}

/** Undoes a removal of all rows: those that were removed, and what was typed since. */
export function withRemoved(rows: Rows, removed: Rows): unknown[] {
  return [...removed, ...rows.filter(row => !isBlank(row))];
}

/** "120 inputs × 3 repeats = 360 test runs"; undefined if a manual run is one test run. */
export function runsText(inputs: number, repeats: unknown): string | undefined {
  const times = typeof repeats === "number" && Number.isInteger(repeats) && repeats > 1 ? repeats : 1;
  if (inputs <= 1 && times === 1) return undefined;
  const factors = [
    ...(inputs > 0 ? [countText(inputs, "input")] : []),
    ...(times > 1 ? [countText(times, "repeat")] : []),
  ];
  return `${factors.join(" × ")} = ${countText(Math.max(1, inputs) * times, "test run")}`;
}

/** `counted` of the labels, without what else they import. */
function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
