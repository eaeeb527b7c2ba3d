// Finds a text, also where it crosses the escapes of JSON in a text.

/** JSON in JSON beyond this many levels is compared as it is. Each level may be as long as the text. */
const levelsMax = 10;
const escapes = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const characters: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The text as it is, then with its JSON escapes decoded, then with those of the text inside it, and so on. */
export function* decodings(text: string): Generator<string> {
  yield text;
  for (let level = 0, before = text; level < levelsMax && before.includes("\\"); level++) {
    const decoded = before.replace(escapes, (_, code: string | undefined, one: string) =>
      code === undefined ? (characters[one] ?? one) : String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (decoded === before) return;
    yield decoded;
    before = decoded;
  }
}

/** A case-sensitive search for one of several texts. `wholeWords`: not within a longer word. */
export type TextSearch = { values: string[]; wholeWords: boolean };

const isWordAt = (text: string, at: number) => /[\p{L}\p{N}_]/u.test(text.charAt(at));

function indexIn(text: string, { values, wholeWords }: TextSearch): { at: number; value: string } | null {
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
      const within = isWordAt(text, at - 1) || isWordAt(text, at + value.length);
      if (!wholeWords || !within) return { at, value };
    }
  }
  return null;
}

/** Where the text has a value, with a few characters around it, or null. */
export function excerptOf(text: string, search: TextSearch): string | null {
  if (!mayHave(text, search)) return null;
  for (const decoded of decodings(text)) {
    const found = indexIn(decoded, search);
    if (found) return around(decoded, found.at, found.value.length);
  }
  return null;
}

const runs = new WeakMap<TextSearch, string[]>();

/** Decoding takes a hundred times as long as this. */
function mayHave(text: string, search: TextSearch): boolean {
  let known = runs.get(search);
  if (!known) {
    known = search.values.map(longestRun);
    runs.set(search, known);
  }
  return known.some(run => run === "" || text.includes(run)) || /\\u00[3-7]/.test(text);
}

/** The longest part that nobody escapes, unless every letter. */
function longestRun(value: string): string {
  return (value.match(/[A-Za-z0-9]+/g) ?? []).reduce((a, b) => (b.length > a.length ? b : a), "");
}

const aroundMax = 40;
const valueMax = 80;

function around(text: string, at: number, length: number): string {
  const from = Math.max(0, at - aroundMax);
  const to = Math.min(text.length, at + Math.min(length, valueMax) + aroundMax);
  const part = text.slice(from, to).toWellFormed().replace(/\s+/g, " ").replaceAll("\0", "\uFFFD");
  return `${from > 0 ? "…" : ""}${part}${to < text.length ? "…" : ""}`;
}

/**
 * The first place of a JSON value that the service stores which has the value, as an excerpt, or null. Not in the service's own
 * words: they stand under certain keys. Keys are searched where they are a user's: below `userKeys`, or if they are no plain name.
 */
export function excerptInJson(value: unknown, search: TextSearch, within = false): string | null {
  if (typeof value === "string") return excerptOf(value, search);
  if (typeof value === "number") return isErasedNumber(value, search) ? String(value) : null;
  if (typeof value !== "object" || value === null) return null;
  const isList = Array.isArray(value);
  for (const [key, item] of Object.entries(value)) {
    if (!isList && !within && ownWords.has(key)) continue;
    const isUsers = !isList && (within || !plainName.test(key));
    const found =
      (isUsers ? excerptOf(key, search) : null) ?? excerptInJson(item, search, within || userKeys.has(key));
    if (found !== null) return found;
  }
  return null;
}

const plainName = /^[A-Za-z_]{1,40}$/;
/** What is below has the keys of a user. */
const userKeys = new Set(["expected_arguments", "expected_value", "schema", "value", "arguments"]);
/** Keys of tests, results, turns and messages whose texts the service reads. */
const ownWords = new Set([
  ...[
    "id",
    "testId",
    "traceId",
    "runId",
    "agentId",
    "spanId",
    "requestId",
    "w3cTraceId",
    "type",
    "kind",
    "state",
  ],
  ...["status", "outcome", "skipped", "why", "code", "reasonCode", "passiveBehavior", "depends_on", "turn"],
  ...[
    "arguments_mode",
    "rests_on",
    "restsOn",
    "context",
    "flags",
    "expected_status",
    "convention",
    "conventions",
  ],
  ...[
    "conventionRules",
    "as",
    "mode",
    "holds",
    "replyFrom",
    "startedAt",
    "since",
    "timestamp",
    "url",
    "firstTraceUrl",
  ],
]);

/** A whole long number, such as one of a phone. Limits, counts and times that have the same digits are not meant. */
function isErasedNumber(value: number, { values }: TextSearch): boolean {
  const digits = String(value);
  return digits.length >= numberDigitsMin && values.includes(digits);
}

const numberDigitsMin = 7;

/**
 * Whether a JSON text that JSON.stringify wrote may have the values in one of its texts, without parsing it: most have
 * not. Nobody escapes letters and digits, except where such escapes can be seen.
 */
export class JsonProbe {
  readonly #values: { raw: Buffer; run: Buffer | null; shortEscape: boolean; isEncoded: boolean }[];

  constructor(values: string[]) {
    this.#values = values.map(value => {
      const run = longestRun(value);
      return {
        raw: Buffer.from(JSON.stringify(value).slice(1, -1)),
        run: run ? Buffer.from(run) : null,
        shortEscape: /["\\/\b\f\n\r\t]/.test(value),
        isEncoded: /^[A-Za-z0-9+/=.-]*$/.test(value),
      };
    });
  }

  /**
   * The same for OTLP in protobuf: its texts stand there as they are. Numbers, and bytes that are read as base64 or
   * hexadecimal, do not, so a value that may be one of these may be in every request.
   */
  mayBeIn(protobuf: Buffer): boolean {
    return this.#values.some(
      ({ run, isEncoded }) =>
        run === null || isEncoded || protobuf.includes(run) || protobuf.includes(anyCode),
    );
  }

  mayHave(json: Buffer): boolean {
    return this.#values.some(({ raw, run, shortEscape }) => {
      if (json.includes(raw)) return true;
      if (!json.includes(nested)) return false;
      if (run === null) return shortEscape || json.includes(nestedCode);
      return json.includes(run) || letterCodes.some(code => json.includes(code));
    });
  }
}

// An escape inside a text is a backslash, which is escaped in its turn.
const nested = Buffer.from("\\\\");
const nestedCode = Buffer.from("\\\\u");
const anyCode = Buffer.from("\\u");
const letterCodes = ["3", "4", "5", "6", "7"].map(digit => Buffer.from(`\\\\u00${digit}`));
