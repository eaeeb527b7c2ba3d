// The table of the built-in rules: each row has the characters at which it is looked for, a bounded pattern, and what else must hold.
import { isIP } from "node:net";
import type { BuiltInRule } from "../model/redaction.ts";
import { ibanLength, isIban } from "./check-digits.ts";
import { type Finding, isSaidAfter, type Scan, saidBefore } from "./context.ts";
import { digits, separators } from "./digit-groups.ts";
import { numberIn, numberPattern } from "./numbers.ts";
import { type Anchored, anchored, keys, knownKeys, passwords, secretAfter } from "./secrets.ts";

export type Row = {
  /** The row is looked for if one of these rules is on. */
  rules: readonly BuiltInRule[];
  /** Characters, and those that may stand right after them; after a ^: any but these; null: any. */
  anchors: readonly (readonly [first: string, second: string | null])[];
  /** The characters that may come third, which costs less to look at than the pattern; absent: any. */
  third?: string;
  /** From the anchor on. Reads a bounded number of characters, unless all that it reads is found. */
  pattern: RegExp;
  /** What was found where the pattern matches, or where to look on, or null. */
  validate(scan: Scan, start: number, end: number): Finding | number | null;
  /** Whether other values may begin in what was found. */
  isOpen?: boolean;
};

/** Any but these. */
const noWord = "^ @.,:;()/\\\"'";

const ascii = (pattern: string) =>
  Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
    .filter(char => new RegExp(pattern).test(char))
    .join("");
const allDigits = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code))
  .filter(char => new RegExp(`[${digits}]`).test(char))
  .join("");
const allSeparators = Array.from({ length: 65_536 }, (_, code) => String.fromCharCode(code))
  .filter(char => new RegExp(`[${separators}]`).test(char))
  .join("");
const hex = "0123456789abcdefABCDEF";

/** What the groups of a pattern have where it matches. */
function groupsAt(pattern: RegExp, text: string, at: number): (string | undefined)[] {
  pattern.lastIndex = at;
  return pattern.exec(text)!.slice(1);
}

const number: Row = {
  rules: ["phone", "card", "ssn"],
  anchors: [
    [allDigits, allDigits + allSeparators],
    ["+＋", `${allDigits} (（`],
    ["(（", `${allDigits}+＋`],
  ],
  pattern: numberPattern,
  validate: numberIn,
};

const octet = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
/** `version is 1.2.3.4`, but not `version of the server 10.0.0.5`. */
const shortGap = /^[^\p{L}\d]{0,4}(?:\p{L}{1,4}[^\p{L}\d]{1,2})?$|^\p{Lo}$/u;
const ipv4: Row = {
  rules: ["ip"],
  anchors: [["0123456789", "0123456789."]],
  pattern: new RegExp(
    `(?<![A-Za-zÀ-ɏ0-9_](?<!\\\\[nrt])|[.]|[A-Za-z_]-|[=~^]=|\\^)${octet}(?:\\.${octet}){3}(?![A-Za-zÀ-ɏ0-9_]|\\.[A-Za-z0-9]|-[A-Za-z])`,
    "y",
  ),
  validate(scan, index, end) {
    // Chrome/120.0.0.0, but localhost/127.0.0.1:80
    if (
      /(?<![/\w.-])[A-Za-z][A-Za-z\d]*\/$/.test(scan.text.slice(Math.max(0, index - 24), index)) &&
      scan.text[end] !== ":"
    )
      return end;
    if (isSaidAfter(scan.text, end, ["version"], 2)) return end;
    const said = saidBefore(scan, index);
    if (said?.kind === "version" && shortGap.test(said.gap)) return end;
    return { rule: "ip", start: index, end };
  },
};

const ipv6: Row = {
  rules: ["ip"],
  anchors: [[":", `${hex}:`]],
  pattern: /(?<=(?<![A-Za-z0-9_:.])([\da-f]{0,4})):[\da-f:]{1,40}(?:\d{0,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})?/iy,
  validate({ text }, index, end) {
    const [first = ""] = groupsAt(ipv6.pattern, text, index);
    let address = first + text.slice(index, end);
    if (/[^:]:$/.test(address)) address = address.slice(0, -1);
    // `a::b` is a name, and 10::20 may be anything.
    const isTelling = /^::|[\da-f]{3}|(?::[\da-f]+){3}/i.test(address) && /\d/.test(address);
    if (!isTelling || isIP(address) !== 6) return null;
    const start = index - first.length;
    return { rule: "ip", start, end: start + address.length };
  },
};

const iban: Row = {
  rules: ["iban"],
  anchors: [[ascii("[A-Za-z]"), "0123456789"]],
  pattern: /(?<=(?<![A-Za-z0-9](?<!\\[nrt]))[A-Za-z])[A-Za-z]\d{2}(?:[ \u00a0\u202f.-]?[A-Za-z0-9]){11,30}/y,
  validate({ text }, index, most) {
    const start = index - 1;
    const length = ibanLength(text.slice(start, start + 2));
    if (length === undefined) return null;
    let end = start;
    let own = "";
    for (; own.length < length && end < most; end++) if (/[A-Za-z0-9]/.test(text[end]!)) own += text[end];
    if (own.length < length || /[A-Za-z0-9]/.test(text[end] ?? "")) return null;
    // Like one, but with wrong check digits, it is nothing else either.
    return isIban(own) ? { rule: "iban", start, end } : end;
  },
};

const other = "[\\u0250-\\u1fff\\u2c00-\\u2fff\\u3040-\\ufeff]";
const domain = `(?:(?:[A-Za-zÀ-ɏ0-9-]{1,63}|${other}{1,63})\\.){1,8}(?:xn--[\\w-]{2,59}|[A-Za-zÀ-ɏ]{2,24}|${other}{2,24})`;
const local = `([A-Za-zÀ-ɏ0-9_.+%'&-]{1,64})|((?:${other}|[0-9.]){1,64})`;
const fileEnd =
  /\.(?:png|jpe?g|gif|webp|svg|ico|avif|heic|woff|ttf|otf|mp[34]|mov|webm|csv|log|gz|m?js|jsx|tsx|s?css|json|html?|xml|txt|pdf|ya?ml|lock|dll|exe|jar|whl|tgz|zip|map)$/i;

const email: Row = {
  rules: ["email"],
  anchors: [
    ["@＠", noWord],
    ["%", "4"],
  ],
  // The domain first: no other address has a part of it, while `%40%40…` may be the local part of many.
  pattern: new RegExp(`(?=([@＠]|%40)(${domain}))(?<=${local})`, "y"),
  validate({ text }, index) {
    const [sign = "", host = "", latin, wide] = groupsAt(email.pattern, text, index);
    // react@18.2.0-beta.next
    if (fileEnd.test(host) || /^\d+\.\d+\./.test(host)) return null;
    let local = latin ?? wide ?? "";
    // In JSON that is read as text, the n of `\n` is no part of it.
    if (text[index - local.length - 1] === "\\") local = local.replace(/^(?:[nrtbf]|u[\da-f]{4})/i, "");
    local = local.replace(/^[.+%'&-]+/, "");
    if (local === "" || local.endsWith(".")) return null;
    const end = index + sign.length + host.length;
    // git@github.com:owner/repository, ssh://git@github.com
    if (/^:[\w~./-]*\//.test(text.slice(end, end + 64)) || text.startsWith("://", index - local.length - 3))
      return null;
    return { rule: "email", start: index - local.length, end };
  },
};

const secret = (anchors: Row["anchors"], pattern: RegExp, more: Partial<Row> = {}): Row => ({
  rules: ["secret"],
  anchors,
  pattern,
  validate: ({ text }, at, end) => ({
    rule: "secret",
    start: at - (groupsAt(pattern, text, at)[0]?.length ?? 0),
    end,
  }),
  ...more,
});

/** After anything that is no letter or digit, or after an escape such as `\n`. */
const start = "(?<![A-Za-zÀ-ɏ0-9_](?<!\\\\[nrt]))";
const pairOf = (anchor: string): Row["anchors"] => [[anchor[0]!, anchor[1] ?? null]];
const bothCases = (anchor: string): Row["anchors"] => [
  [
    anchor[0]!.toLowerCase() + anchor[0]!.toUpperCase(),
    anchor[1] === undefined ? null : anchor[1].toLowerCase() + anchor[1].toUpperCase(),
  ],
];

const urlPassword = secret([["@", noWord]], /(?<=:\/\/[^\s:@/"']{0,64}:([^\s@/"']{3,100}))@/y, {
  validate({ text }, at) {
    const [password = ""] = groupsAt(urlPassword.pattern, text, at);
    return /^[[<{$*%]/.test(password) ? null : { rule: "secret", start: at - password.length, end: at };
  },
});

const scheme = secret(
  [["bB", "eEaA"]],
  new RegExp(
    `${start}(?:bearer["':]{0,2}\\s{1,3}["']?|(?<=authorization\\W{1,6})basic\\s{1,3})([\\w.~+/-]{8,}={0,2})`,
    "iy",
  ),
  {
    third: "aAsS",
    validate({ text }, at, end) {
      const [token = ""] = groupsAt(scheme.pattern, text, at);
      let last = token.length;
      while (token[last - 1] === ".") last--;
      const value = token.slice(0, last);
      const isKey = /\d/.test(value) || (value.length >= 24 && /[A-Z]/.test(value) && /[a-z]/.test(value));
      const begin = end - token.length;
      return isKey || /^basic/i.test(text.slice(at, end))
        ? { rule: "secret", start: begin, end: begin + value.length }
        : null;
    },
  },
);

const pem = secret(
  [["-", "-"]],
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=:,. \r\n]|-(?!----)|\\{1,40}[nr]){0,20000}(?:-----END [A-Z ]{0,40}-----)?/y,
);

/** The letter after an anchor of two, if there is only one. */
function thirdOf(after: string): Pick<Row, "third"> {
  const third = /^[a-z]{2}([a-z])(?!\?)/.exec(after)?.[1];
  return third === undefined ? {} : { third: third + third.toUpperCase() };
}

const ofWord =
  (isPassword: boolean) =>
  ({ anchor, before, after }: Anchored): Row =>
    secret(bothCases(anchor), new RegExp(`(?<=${before})(?:${after})(?![A-Za-z])`, "iuy"), {
      validate: (scan, _, end) => secretAfter(scan, end, isPassword),
      ...thirdOf(after),
      isOpen: true,
    });

export const table: readonly Row[] = [
  ipv4,
  iban,
  number,
  ipv6,
  urlPassword,
  email,
  pem,
  scheme,
  ...anchored(knownKeys).map(({ anchor, before, after }) =>
    secret(pairOf(anchor), new RegExp(`(?<=${start}(${before}))${after}`, "y")),
  ),
  ...anchored(passwords).map(ofWord(true)),
  ...anchored(keys).map(ofWord(false)),
];
