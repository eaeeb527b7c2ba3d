// Sorts the inputs of chosen traces into those to add, and a note on what is left out.
import type { TraceInput } from "../../../../src/http/test-cases/editor-schemas.ts";
import { numberText } from "../../../format.ts";
import { limitText, sortCandidates } from "./candidates.ts";

/** `asked`: how many traces were chosen; those that were deleted since are not among the items. */
export function pickedFrom(
  items: readonly TraceInput[],
  asked: number,
  known: readonly string[],
): { inputs: string[]; note: string } {
  const found = items.flatMap(({ input }) => (input === null ? [] : [input]));
  const { inputs, duplicates, tooMany, faults, blank } = sortCandidates(
    { inputs: found.map((input, at) => ({ line: at + 1, input })), faults: [] },
    known.filter(input => /\S/.test(input)),
  );
  const unread = items.filter(item => item.unread).length;
  const none = asked - found.length - unread + blank;
  const parts = [
    [duplicates, "already in the test or chosen twice"],
    [none, "deleted or without user input"],
    [unread, "in traces too large to read"],
    [faults.length, "too long or with characters that cannot be stored"],
    [tooMany, `beyond the limit of ${limitText}`],
  ] as const;
  const leftOut = parts.filter(([count]) => count > 0).map(([count, why]) => `${numberText(count)} ${why}`);
  return { inputs, note: leftOut.length > 0 ? `Left out: ${leftOut.join(", ")}.` : "" };
}
