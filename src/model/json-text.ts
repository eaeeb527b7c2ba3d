// Parses the JSON text that attributes hold, without letting any text cost seconds, gigabytes or the stack.

/** How many values one text may hold. */
export const textValuesMax = 1_000_000;
/** How many values the texts of one trace may hold together, where all of them are kept once they are parsed. */
export const keptValuesMax = 2_000_000;

/**
 * Counts the values that are parsed and kept. Without it the tool calls of a trace of 256 MB could hold 85 million
 * values as JSON text, 5 GB of heap; 200,000 calls with ten values each pass.
 */
export class ValueAllowance {
  left = keptValuesMax;
  /** Whether a text was not parsed because too little was left. */
  exceeded = false;

  get used(): number {
    return keptValuesMax - this.left;
  }
}

/**
 * Parses JSON text that stood in an attribute; undefined when it is malformed, nested more than 200 levels deep, made
 * of more than a million values, or of more than the allowance has left.
 */
export function parseJson(text: string, allowance?: ValueAllowance): unknown {
  // No text this short is too deep.
  if (allowance || text.length > 2 * levelsMax) {
    const valuesMax = Math.min(textValuesMax, allowance?.left ?? textValuesMax);
    const values = countValues(text, valuesMax);
    if (allowance && values === undefined && valuesMax < textValuesMax) allowance.exceeded = true;
    if (values === undefined) return undefined;
    if (allowance) allowance.left -= values;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const levelsMax = 200;

/**
 * Objects, lists and commas; undefined where there are more than `valuesMax` or more levels than are read. Looks at the
 * text alone, because parsing some megabytes of brackets takes seconds and gigabytes.
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

const [quote, backslash, comma] = [34, 92, 44];
const [openBracket, closeBracket, openBrace, closeBrace] = [91, 93, 123, 125];

/** The position of the quote that closes the string opened at `start`; the text's end where none does. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes++;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
