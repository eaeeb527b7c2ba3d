// Finds keys and tokens by their known shapes: sk-…, ghp_…, AKIA…, JWT, PEM private keys, and others.
import { isAfterPlaceholder, isLatinOrDigit } from "./characters.ts";

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

/** By the characters before the last of a prefix, - or _. */
const byEnding = new Map<string, Shape[]>();
for (const shape of shapes) {
  const ending = shape.prefix.slice(-3);
  byEnding.set(ending, [...(byEnding.get(ending) ?? []), shape]);
}

/** The key whose prefix ends with the - or _ here. */
export function keyAt(text: string, mark: number): Place | null {
  for (const { prefix, rest } of byEnding.get(text.slice(mark - 2, mark + 1)) ?? []) {
    const start = mark + 1 - prefix.length;
    if (start < 0 || !text.startsWith(prefix, start) || !isStart(text, start)) continue;
    rest.lastIndex = mark + 1;
    if (rest.test(text)) return { start, end: rest.lastIndex };
  }
  return null;
}

/** AKIA… and ASIA… of AWS, AIza… of Google: `letter` is the second or third of them. */
export function cloudKeyAt(text: string, letter: number): Place | null {
  const aws = letter - 1;
  if (/^A[KS]IA/.test(text.slice(aws, aws + 4)) && isStart(text, aws)) {
    const end = aws + 20;
    return /^[A-Z0-9]{20}$/.test(text.slice(aws, end)) && !isLatinOrDigit(text.charCodeAt(end))
      ? { start: aws, end }
      : null;
  }
  const google = letter - 2;
  if (google < 0 || !text.startsWith("AIza", google) || !isStart(text, google)) return null;
  return /^[\w-]{39}$/.test(text.slice(google, google + 39)) ? { start: google, end: google + 39 } : null;
}

const jwt = /eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}/y;

/** The JSON web token of whose `eyJ` the J is here. */
export function jwtAt(text: string, letter: number): Place | null {
  const start = letter - 2;
  if (start < 0 || !isStart(text, start) || text.charCodeAt(start - 1) === 45) return null;
  jwt.lastIndex = start;
  return jwt.test(text) ? { start, end: jwt.lastIndex } : null;
}

const scheme = /(?:bearer|basic)["':]{0,2}\s{1,3}["']?/iy;
const token = /[\w.~+/-]{8,4000}={0,2}/y;

/** What follows `Bearer`, or `Basic` where a header says so. */
export function bearerAt(text: string, start: number): Place | null {
  scheme.lastIndex = start;
  if (!isStart(text, start) || !scheme.test(text)) return null;
  token.lastIndex = scheme.lastIndex;
  if (!token.test(text)) return null;
  const place = { start: scheme.lastIndex, end: token.lastIndex };
  while (text.charCodeAt(place.end - 1) === 46) place.end--;
  const value = text.slice(place.start, place.end);
  const isBasic = (text.charCodeAt(start + 1) | 32) === 97;
  if (isBasic)
    return /authorization\W{1,6}$/i.test(text.slice(Math.max(0, start - 24), start)) ? place : null;
  return /\d/.test(value) || (value.length >= 24 && /[A-Z]/.test(value) && /[a-z]/.test(value))
    ? place
    : null;
}

const pemBegin = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----/y;
const pemBody = /(?:[A-Za-z0-9+/=:,. \r\n-]|\\[rn])*/y;

/** A PEM private key, as far as there is of it. */
export function pemAt(text: string, start: number): Place | null {
  pemBegin.lastIndex = start;
  if (!pemBegin.test(text)) return null;
  const from = pemBegin.lastIndex;
  const ending = text.indexOf("-----END ", from);
  if (ending !== -1 && ending - from <= pemMax) {
    const close = text.indexOf("-----", ending + 9);
    if (close !== -1 && close - ending < 60) return { start, end: close + 5 };
  }
  pemBody.lastIndex = from;
  pemBody.test(text);
  return { start, end: Math.max(from, pemBody.lastIndex) };
}

const pemMax = 20_000;

/** After anything that is no letter or digit, or after an escape such as `\n`. */
function isStart(text: string, start: number): boolean {
  if (start === 0) return true;
  const previous = text.charCodeAt(start - 1);
  if (!isLatinOrDigit(previous) && previous !== 95) return !isAfterPlaceholder(text, start);
  return text.charCodeAt(start - 2) === 92 && "nrt".includes(text[start - 1]!);
}
