// Patterns as their authors write them, in JavaScript's syntax, and as the linear-time engine reads them.

/** What `\s` and `\S` mean, each as members of a class. */
export type WhiteSpace = { s: string; S: string };

export const unicodeSpace: WhiteSpace = { s: "\\p{White_Space}", S: "\\P{White_Space}" };

/** As JSON Schema has it, which follows ECMA-262: a byte order mark is white space, and U+0085 is not. */
export const ecmaSpace: WhiteSpace = {
  s: "\\t-\\r\\x20-\\x20\\xa0-\\xa0\\x{1680}-\\x{1680}\\x{2000}-\\x{200a}\\x{2028}-\\x{2029}\\x{202f}-\\x{202f}\\x{205f}-\\x{205f}\\x{3000}-\\x{3000}\\x{feff}-\\x{feff}",
  S: "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}",
};

/** The pattern in the engine's syntax, where JavaScript's differs: Unicode escapes and white space. */
export function inEngineSyntax(source: string, space: WhiteSpace): string {
  return withPlainEscapes(source).replace(parts, (part, list: string | undefined) => {
    if (list) return list.replace(/\\(.)/gs, (written, name) => space[name as keyof WhiteSpace] ?? written);
    const members = part.length === 2 ? space[part[1] as keyof WhiteSpace] : undefined;
    return members ? `[${members}]` : part;
  });
}

/** Its character classes, such as `[a-z]`. */
export function classesIn(source: string): string[] {
  return Array.from(source.matchAll(parts), ([, list]) => list).filter(list => list !== undefined);
}

// A quoted section, a class (also one without an end), or an escape.
const parts = /\\Q.*?(?:\\E|$)|(\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]?)|\\./gs;

/** Converts JavaScript's Unicode escapes, `\u00e9`, to the engine's syntax. */
export function withPlainEscapes(source: string): string {
  const escapes = /\\(?:u(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})|u\{([\da-f]{1,6})\}|u([\da-f]{4})|.)/gis;
  return source.replace(escapes, (written, high, low, long, short) => {
    if (high) return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16));
    return long || short ? `\\x{${long ?? short}}` : written;
  });
}
