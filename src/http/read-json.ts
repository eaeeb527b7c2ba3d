// Parses the bodies of the dashboard API: only JSON in UTF-8, with a limit on depth.
import { mayBeAltered, parseExactly } from "../model/json-exact.ts";
import { isWithin } from "../model/path.ts";
import { Refusal } from "../model/refusal.ts";
import type { App } from "./deps.ts";

const levelsMax = 200;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Makes JSON the only accepted media type. An empty body counts as absent. */
export function readJson(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    async (_request: unknown, bytes: Buffer) => (bytes.length === 0 ? undefined : parse(bytes)),
  );
}

function parse(bytes: Buffer): unknown {
  let text: string;
  let body: unknown;
  try {
    text = utf8.decode(bytes);
    body = JSON.parse(text);
  } catch {
    throw new Refusal("VALIDATION_ERROR", { message: "The body is not valid JSON in UTF-8." });
  }
  // Integers beyond ±(2^53−1) become decimal text, as in traces: a test compares the two.
  if (isWithin(body, levelsMax)) return mayBeAltered(text) ? parseExactly(text, digits => digits) : body;
  throw new Refusal("VALIDATION_ERROR", {
    message: `The body is nested more than ${levelsMax} levels deep.`,
  });
}
