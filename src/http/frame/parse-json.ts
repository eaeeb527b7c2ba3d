// Parses the JSON of a request to the API, within limits on its values and nesting.
import { mayBeAltered, parseExactly } from "../../model/json-exact.ts";
import { Refusal } from "../../model/refusal.ts";
import { scanJson } from "../../wire/json-scan.ts";
import { decodeLimits } from "../../wire/limits.ts";

const levelsMax = 200;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What a body of the API may contain: JSON objects, lists and commas. */
export const elementsMax = 20_000;

/** Within these, a body takes the thread that answers requests about a millisecond. */
const inlineBytesMax = 65_536;
const inlineElementsMax = 5_000;

/** How many values the body has, as far as it is read inline; null: it is to be parsed on a thread. */
export function inlineElements(bytes: Buffer): number | null {
  return isLarge(bytes.length) ? null : elementsWithin(bytes, inlineElementsMax);
}

export function isLarge(bytes: number): boolean {
  return bytes > inlineBytesMax;
}

/** Throws VALIDATION_ERROR, and PAYLOAD_TOO_LARGE for too many values. */
export function parseJson(bytes: Buffer): unknown {
  scanned(bytes);
  let text: string;
  let body: unknown;
  try {
    text = utf8.decode(bytes);
    body = JSON.parse(text);
  } catch {
    throw new Refusal("VALIDATION_ERROR", { message: "The body is not valid JSON in UTF-8." });
  }
  // Integers beyond ±(2^53−1) become decimal text, as in traces: a test compares the two.
  return mayBeAltered(text) ? parseExactly(text, digits => digits) : body;
}

function scanned(bytes: Buffer): void {
  try {
    scanJson(bytes, { ...decodeLimits, elementsMax, nestingMax: levelsMax });
  } catch (error) {
    if (error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE") {
      throw new Refusal("PAYLOAD_TOO_LARGE", {
        message: `The body contains more than ${elementsMax.toLocaleString("en-US")} values.`,
      });
    }
    throw new Refusal("VALIDATION_ERROR", {
      message: `The body is nested more than ${levelsMax} levels deep.`,
    });
  }
}

function elementsWithin(bytes: Buffer, max: number): number | null {
  try {
    return scanJson(bytes, { ...decodeLimits, elementsMax: max, nestingMax: Number.POSITIVE_INFINITY })
      .elements;
  } catch {
    return null;
  }
}
