// Parses JSON text in attributes, with limits on depth and size so that no text costs seconds, gigabytes or the stack.
import { endOfString, parseUnaltered } from "./json-exact.ts";

/** Limit of values in one text. */
const textValuesMax = 1_000_000;
/** Limit of values in all texts of one trace, if the parsed values stay in memory. */
export const keptValuesMax = 2_000_000;

/**
 * Counts parsed values that stay in memory. Without this limit the tool calls of a 256 MB trace could contain 85 million
 * values as JSON text, which need 5 GB of heap. 200,000 calls with ten values each are within it.
 */
export class ValueAllowance {
  left = keptValuesMax;
  /** Whether a text was not parsed because it exceeded the rest of the allowance. */
  exceeded = false;

  get used(): number {
    return keptValuesMax - this.left;
  }
}

/**
 * Parses the JSON text of an attribute; undefined if it is malformed, nested more than 200 levels deep, or has more than
 * a million values or more than the allowance has left.
 */
export function parseJson(text: string, allowance?: ValueAllowance): unknown {
  // A text this short cannot be too deep.
  if (allowance || text.length > 2 * levelsMax) {
    const valuesMax = Math.min(textValuesMax, allowance?.left ?? textValuesMax);
    const values = countValues(text, valuesMax);
    if (allowance && values === undefined && valuesMax < textValuesMax) allowance.exceeded = true;
    if (values === undefined) return undefined;
    if (allowance) allowance.left -= values;
  }
  try {
    return parseUnaltered(text);
  } catch {
    return undefined;
  }
}

const levelsMax = 200;

/**
 * Counts objects, lists and commas; undefined if there are more than `valuesMax`, or too many levels. Scans the text
 * without parsing it, because parsing some megabytes of brackets takes seconds and gigabytes.
 */
function countValues(text: string, valuesMax: number): number | undefined {
  let levels = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
    } else if (char === openBracket || char === openBrace) {
      if (++levels > levelsMax || ++values > valuesMax) return undefined;
    } else if (char === closeBracket || char === closeBrace) {
      levels--;
    } else if (char === comma && ++values > valuesMax) {
      return undefined;
    }
  }
  return values;
}

const [quote, comma] = [34, 44];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];
