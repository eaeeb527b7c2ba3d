// Parses the JSON text that attributes hold, without letting any text cost seconds, gigabytes or the stack.

/**
 * Parses JSON text that stood in an attribute; undefined when it is malformed, nested more than 200 levels deep or
 * made of more than a million values.
 */
export function parseJson(text: string): unknown {
  try {
    return isModest(text) ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

const levelsMax = 200;
const valuesMax = 1_000_000;

/** Looks at the text alone, because parsing some megabytes of brackets takes seconds and gigabytes. */
function isModest(text: string): boolean {
  if (text.length <= 2 * levelsMax) return true;
  let levels = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = endOfString(text, at);
    } else if (char === openBracket || char === openBrace) {
      if (++levels > levelsMax || ++values > valuesMax) return false;
    } else if (char === closeBracket || char === closeBrace) {
      levels--;
    } else if (char === comma && ++values > valuesMax) {
      return false;
    }
  }
  return true;
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
