// Invisible characters in patterns: those that came along with a pasted text, and those that a pattern looks for.
import { unseenCharacters, withoutUnseen } from "../strip-invisible.ts";
import { classesIn, withPlainEscapes } from "./pattern-syntax.ts";

/** `source`: what is searched for, in texts as they are, or else in texts without invisible characters. */
export type SearchedPattern = { source: string; seesInvisible: boolean };

/** Takes invisible characters out of a pattern, unless it names one. */
export function searchedPattern(source: string): SearchedPattern {
  const seesInvisible = namesInvisible(source);
  return { source: seesInvisible ? source : withoutUnseen(source), seesInvisible };
}

function namesInvisible(source: string): boolean {
  return (
    byItself.test(source) ||
    classesIn(source).some(list => list !== withoutUnseen(list) || list.includes("[:cntrl:]")) ||
    Array.from(withPlainEscapes(source).matchAll(escapes)).some(([, two, hex = two, octal, property]) => {
      if (property !== undefined) return unseenProperty.test(property);
      return isUnseen(hex ? Number.parseInt(hex, 16) : Number.parseInt(octal ?? "", 8));
    })
  );
}

function isUnseen(code: number): boolean {
  return code <= 0x10ffff && withoutUnseen(String.fromCodePoint(code)) === "";
}

// Taking it out would leave nothing, or give what is beside it another meaning.
const byItself = new RegExp(
  `(?:^|[|(^]|\\(\\?\\w*:)[${unseenCharacters}]+(?:$|[|)$])|(?:\\\\|\\{[\\d,]*)[${unseenCharacters}]|[${unseenCharacters}][*+?{]`,
  "u",
);
const escapes = /\\(?:x([\da-fA-F]{2})|x\{([\da-fA-F]{1,6})\}|([0-7]{1,3})|[pP](?:\{\^?)?(\w+)|.)/gs;
const unseenProperty =
  /^(?:C[cfn]?|(?:Default_Ignorable|Variation|Join_Control|Bidi_Control|Noncharacter)\w*)$/;
