// Parses the bodies of the dashboard API: only JSON in UTF-8, with a limit on depth.
import { hasEscapedKey, parseExactly } from "../model/json-exact.ts";
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
  if (isWithin(body, levelsMax)) return hasEscapedKey(text) ? parseExactly(text, Number) : body;
  throw new Refusal("VALIDATION_ERROR", {
    message: `The body is nested more than ${levelsMax} levels deep.`,
  });
}
