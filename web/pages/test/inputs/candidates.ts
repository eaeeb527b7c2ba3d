// Sorts the inputs of a file or of traces into those to add, and those left out: blank, duplicate, too long, too many.
import { numberText } from "../../../format.ts";

/** What a file has in its chosen column, and the lines that cannot be read. */
export type Candidates = { inputs: { line: number; input: string }[]; faults: LineFault[] };

/** `line` counts from 1. */
export type LineFault = { line: number; message: string };

export type Sorted = {
  /** To add, in order. */
  inputs: string[];
  blank: number;
  /** Equal to an earlier one, or to one that the test already has. */
  duplicates: number;
  /** Beyond the limits of a test. */
  tooMany: number;
  faults: LineFault[];
};

/** The limits of a test: inputs, characters of each, and of all together. */
export const inputsMax = 1_000;
const charactersMax = 100_000;
const allCharactersMax = 1_000_000;

/** `known`: the inputs that stay in the test. */
export function sortCandidates({ inputs, faults }: Candidates, known: readonly string[]): Sorted {
  const seen = new Set(known);
  const sorted: Sorted = { inputs: [], blank: 0, duplicates: 0, tooMany: 0, faults: [...faults] };
  let count = known.length;
  let characters = known.reduce((sum, { length }) => sum + length, 0);
  for (const { line, input } of inputs) {
    const fault = faultOf(input);
    if (!/\S/.test(input)) sorted.blank += 1;
    else if (fault !== undefined) sorted.faults.push({ line, message: fault });
    else if (seen.has(input)) sorted.duplicates += 1;
    else if (count >= inputsMax || characters + input.length > allCharactersMax) sorted.tooMany += 1;
    else {
      sorted.inputs.push(input);
      count += 1;
      characters += input.length;
    }
    seen.add(input);
  }
  sorted.faults.sort((a, b) => a.line - b.line);
  return sorted;
}

/** "1,000 inputs with 1,000,000 characters in all". */
export const limitText = `${numberText(inputsMax)} inputs with ${numberText(allCharactersMax)} characters in all`;

function faultOf(input: string): string | undefined {
  if (input.length > charactersMax) {
    return `${numberText(input.length)} characters. The limit is ${numberText(charactersMax)}.`;
  }
  if (input.includes("\0") || !input.isWellFormed()) return "Contains a character that cannot be stored.";
  return undefined;
}
