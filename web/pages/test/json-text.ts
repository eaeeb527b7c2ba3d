// Positions in a JSON text: the first syntax error, and the range of the value at a path.
import {
  findNodeAtLocation,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
  visit,
} from "jsonc-parser";
import { NumberTooLarge, parseTestJson } from "../../exact-json.ts";

export type TextFault = { message: string; offset: number; line: number; column: number };

export type ReadText = { ok: true; value: unknown } | { ok: false; fault: TextFault };

type Span = { start: number; end: number };

const strict = { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false };

/** Lines and columns count from 1. The parser only locates the error: browsers report its position for some alone. */
export function readText(text: string): ReadText {
  try {
    return { ok: true, value: parseTestJson(text) };
  } catch (error) {
    const fault =
      error instanceof NumberTooLarge
        ? { message: "The number is too large.", offset: infinityIn(text) }
        : (faultOf(text) ?? { message: "Nested too deeply.", offset: 0 });
    return { ok: false, fault: { ...fault, ...positionOf(text, fault.offset) } };
  }
}

export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - lineStart + 1 };
}

/** The range of the value at the path, or of its nearest existing parent; the text must parse. */
export function placeOf(text: string, path: string): Span {
  const keys = keysOf(path);
  const root = unlessTooDeep(() => parseTree(text));
  for (let depth = keys.length; root && depth >= 0; depth--) {
    const node = findNodeAtLocation(root, keys.slice(0, depth));
    if (node) return { start: node.offset, end: node.offset + node.length };
  }
  return { start: 0, end: 0 };
}

/** Splits a path such as `assertions[1]["a name"]` into its keys. */
export function keysOf(path: string): (string | number)[] {
  const steps = path.matchAll(/\.?([\w$]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g);
  return [...steps].map(([, name, position, quoted]) =>
    position !== undefined ? Number(position) : quoted !== undefined ? JSON.parse(quoted) : name!,
  );
}

const badString = "Unterminated string, or a character that must be escaped.";

/** By the parser's code. */
const messages: Record<string, string> = {
  ValueExpected: "Expected a value.",
  PropertyNameExpected: "Expected a property name in double quotes.",
  ColonExpected: "Expected “:” after the name.",
  CommaExpected: "Expected “,” or the end of the list or object.",
  CloseBraceExpected: "Expected “,” or “}”.",
  CloseBracketExpected: "Expected “,” or “]”.",
  EndOfFileExpected: "Unexpected text after the end of the document.",
  InvalidSymbol: "Unexpected text. Strings and property names need double quotes.",
  InvalidNumberFormat: "Invalid number.",
  UnexpectedEndOfNumber: "Incomplete number.",
  UnexpectedEndOfString: badString,
  InvalidCharacter: badString,
  InvalidEscapeCharacter: "Invalid escape in a string.",
  InvalidUnicode: "Invalid \\u escape in a string.",
  InvalidCommentToken: "JSON does not allow comments.",
  UnexpectedEndOfComment: "JSON does not allow comments.",
};

/** The first error by position; undefined if the parser finds none or the nesting exceeds its stack. */
function faultOf(text: string): { message: string; offset: number } | undefined {
  const errors: ParseError[] = [];
  unlessTooDeep(() => parse(text, errors, strict));
  const [first] = errors.sort((one, other) => one.offset - other.offset);
  if (!first) return undefined;
  if (text.trim() === "") return { message: "Unexpected end of text.", offset: first.offset };
  return { message: messages[printParseErrorCode(first.error)] ?? "Invalid JSON.", offset: first.offset };
}

/** Where the first number is that no double can hold. */
function infinityIn(text: string): number {
  let first: number | undefined;
  const onLiteralValue = (value: unknown, offset: number) => {
    if (value === Infinity || value === -Infinity) first ??= offset;
  };
  unlessTooDeep(() => visit(text, { onLiteralValue }));
  return first ?? 0;
}

/** The parser calls itself once per level. */
function unlessTooDeep<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
