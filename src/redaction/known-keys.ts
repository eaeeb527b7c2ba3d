// Finds keys and tokens by their known shapes: sk-…, ghp_…, AKIA…, JWT, PEM private keys, and others.
import { isAfterPlaceholder, isLatinOrDigit, isLineEscape } from "./characters.ts";
import { codeAt, type Text } from "./units.ts";

type Place = { start: number; end: number };

/** `mixed`: needs a digit, because names of packages and variables begin in the same way. */
type Shape = { prefix: string; rest: RegExp };

const shapes: Shape[] = [
  { prefix: "sk-", rest: /(?=[\w-]{0,80}\d)(?=[\w-]{0,40}[A-Za-z0-9]{12})[\w-]{16,300}/y },
  { prefix: "svc_", rest: /[A-Za-z0-9]{32,200}/y },
  { prefix: "github_pat_", rest: /\w{22,255}/y },
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map(prefix => ({ prefix, rest: /[A-Za-z0-9]{20,255}/y })),
  ...["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xapp-"].map(prefix => ({
    prefix,
    rest: /[A-Za-z0-9-]{10,255}/y,
  })),
  ...["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"].map(prefix => ({
    prefix,
    rest: /[A-Za-z0-9+/=]{10,255}/y,
  })),
  { prefix: "glpat-", rest: /[\w-]{20,255}/y },
  { prefix: "npm_", rest: /[A-Za-z0-9]{36}/y },
  { prefix: "hf_", rest: /[A-Za-z0-9]{30,100}/y },
  { prefix: "pypi-", rest: /[\w-]{50,500}/y },
  { prefix: "dop_v1_", rest: /[\da-f]{64}/y },
  { prefix: "gsk_", rest: /[A-Za-z0-9]{40,100}/y },
  { prefix: "r8_", rest: /[A-Za-z0-9]{37}/y },
  { prefix: "lin_api_", rest: /[A-Za-z0-9]{32,64}/y },
];

/** By the last three characters of a prefix, packed. */
const byEnding = new Map<number, Shape[]>();
for (const shape of shapes) {
  const [first, second, third] = Array.from(shape.prefix.slice(-3), char => char.charCodeAt(0));
  const ending = packed(first!, second!, third!);
  byEnding.set(ending, [...(byEnding.get(ending) ?? []), shape]);
}

function packed(first: number, second: number, third: number): number {
  return (first * 128 + second) * 128 + third;
}

/** The prefixes of keys that end with three characters. */
export function prefixesEndingWith(
  first: number,
  second: number,
  third: number,
): readonly { prefix: string }[] | undefined {
  return first < 128 && second < 128 ? byEnding.get(packed(first, second, third)) : undefined;
}

/** The letters before the last of a prefix. */
const lastLetters = new Uint8Array(128);
for (const { prefix } of shapes) lastLetters[prefix.charCodeAt(prefix.length - 2)] = 1;

/** The keys of one text; remembers what lies ahead, so that all questions together read the text a few times. */
export class KeySearch {
  readonly #text: Text;
  #digitFrom = 0;
  #digit = -1;
  #endFrom = 0;
  #end = -2;

  constructor(text: Text) {
    this.#text = text;
  }

  /** The key whose prefix ends with the - or _ here. */
  at(mark: number): Place | null {
    const text = this.#text;
    const [first, second] = [codeAt(text, mark - 2), codeAt(text, mark - 1)];
    if (second >= 128 || lastLetters[second] === 0 || first >= 128) return null;
    const some = byEnding.get(packed(first, second, codeAt(text, mark)));
    if (!some) return null;
    for (const { prefix, rest } of some) {
      const start = mark + 1 - prefix.length;
      if (start < 0 || (prefix.length > 3 && !text.startsWith(prefix, start)) || !isStart(text, start))
        continue;
      if (prefix === "sk-" && this.#digitAfter(mark + 1) > mark + 81) continue;
      rest.lastIndex = mark + 1;
      if (rest.test(text.string)) return { start, end: rest.lastIndex };
    }
    return null;
  }

  /** The private key whose `-----BEGIN` is here. */
  pemAt(start: number): Place | null {
    return pemAt(this.#text, start, from => {
      if (this.#end !== -1 && (from < this.#endFrom || from > this.#end)) {
        this.#endFrom = from;
        this.#end = this.#text.string.indexOf("-----END ", from);
      }
      return this.#end;
    });
  }

  /** The next digit, if only letters, _ and - stand before it; else infinity. */
  #digitAfter(from: number): number {
    const text = this.#text;
    if (from < this.#digitFrom || from > this.#digit) {
      let at = from;
      while (at < text.length && isKeyLetter(codeAt(text, at))) at++;
      this.#digitFrom = from;
      this.#digit = at;
    }
    const code = codeAt(text, this.#digit);
    return code >= 48 && code <= 57 ? this.#digit : Number.POSITIVE_INFINITY;
  }
}

function isKeyLetter(code: number): boolean {
  const lower = code | 32;
  return (lower >= 97 && lower <= 122) || code === 95 || code === 45;
}

/** AKIA… and ASIA… of AWS, AIza… of Google: `letter` is the second or third of them. */
export function cloudKeyAt(text: Text, letter: number): Place | null {
  const aws = letter - 1;
  if (/^A[KS]IA/.test(text.slice(aws, aws + 4)) && isStart(text, aws)) {
    const end = aws + 20;
    return /^[A-Z0-9]{20}$/.test(text.slice(aws, end)) && !isLatinOrDigit(codeAt(text, end))
      ? { start: aws, end }
      : null;
  }
  const google = letter - 2;
  if (google < 0 || !text.startsWith("AIza", google) || !isStart(text, google)) return null;
  return /^[\w-]{39}$/.test(text.slice(google, google + 39)) ? { start: google, end: google + 39 } : null;
}

const jwt = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/y;

/** The JSON web token of whose `eyJ` the J is here. */
export function jwtAt(text: Text, letter: number): Place | null {
  const start = letter - 2;
  if (start < 0 || !isStart(text, start)) return null;
  jwt.lastIndex = start;
  return jwt.test(text.string) ? { start, end: jwt.lastIndex } : null;
}

/** The second and the third, in lower case. */
const [bearerLetters, basicLetters] = [(101 << 8) | 97, (97 << 8) | 115];
const scheme = /(?:bearer|basic)["':]{0,2}\s{1,3}["']?/iy;
const token = /[\w.~+/-]{8,}={0,2}/y;

/** What follows `Bearer`, or `Basic` where a header says so. */
export function bearerAt(text: Text, start: number): Place | null {
  const letters = ((codeAt(text, start + 1) | 32) << 8) | codeAt(text, start + 2) | 32;
  if (letters !== bearerLetters && letters !== basicLetters) return null;
  scheme.lastIndex = start;
  if (!isStart(text, start) || !scheme.test(text.string)) return null;
  token.lastIndex = scheme.lastIndex;
  if (!token.test(text.string)) return null;
  const place = { start: scheme.lastIndex, end: token.lastIndex };
  while (codeAt(text, place.end - 1) === 46) place.end--;
  const value = text.slice(place.start, place.end);
  if (letters === basicLetters)
    return /authorization\W{1,6}$/i.test(text.slice(Math.max(0, start - 24), start)) ? place : null;
  return /\d/.test(value) || (value.length >= 24 && /[A-Z]/.test(value) && /[a-z]/.test(value))
    ? place
    : null;
}

const pemBegin = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;

/** A PEM private key, as far as there is of it. */
function pemAt(text: Text, start: number, endFrom: (from: number) => number): Place | null {
  pemBegin.lastIndex = start;
  if (!pemBegin.test(text.string)) return null;
  const from = pemBegin.lastIndex;
  const ending = endFrom(from);
  if (ending !== -1 && ending - from <= pemMax) {
    const close = text.slice(ending + 9, ending + 64).indexOf("-----");
    if (close !== -1) return { start, end: ending + 14 + close };
  }
  let end = from;
  for (; end < text.length; end++) {
    const code = codeAt(text, end);
    if (code < 128 && inPem[code] === 1) continue;
    const next = codeAt(text, end + 1);
    if (code !== 92 || (next !== 110 && next !== 114)) break;
    end++;
  }
  return { start, end };
}

const pemMax = 20_000;
const inPem = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=:,. \r\n-")
  inPem[char.charCodeAt(0)] = 1;

/** After anything that is no letter or digit, or after an escape such as `\n`. */
function isStart(text: Text, start: number): boolean {
  if (start === 0) return true;
  const previous = codeAt(text, start - 1);
  if (!isLatinOrDigit(previous) && previous !== 95) return !isAfterPlaceholder(text, start);
  return codeAt(text, start - 2) === 92 && isLineEscape(codeAt(text, start - 1));
}
