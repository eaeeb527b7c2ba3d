// The thread of the sandbox: validates values by schemas and searches texts for patterns until it is ended.
import { parentPort } from "node:worker_threads";
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { SandboxAnswer, SandboxQuestion } from "../../model/sandbox.ts";
import { draftOf } from "../../model/test-case/json-schema.ts";
import { compilePattern } from "../../model/test-case/pattern.ts";

/** `id` ties an answer to its question. */
export type Posted = { id: number; question: SandboxQuestion };
export type Answered = { id: number; answer: SandboxAnswer };

const faultsMax = 5;
const validatorsMax = 100;
/** Characters of schemas whose validators are kept: each holds a path for every level of its schema, up to 60 times its text. */
const schemaCharsMax = 256 * 1024;
const validators = new Map<string, Validator>();
let schemaChars = 0;

// One message brings several questions; each is answered as soon as it is, so that a slow one is known by its silence.
parentPort!.on("message", (batch: Posted[]) => {
  for (const { id, question } of batch) {
    parentPort!.postMessage({ id, answer: answerTo(question) } satisfies Answered);
  }
});
parentPort!.postMessage("ready");

function answerTo(question: SandboxQuestion): SandboxAnswer {
  try {
    if (question.kind === "pattern") {
      const holds = compilePattern(question.pattern, question.flags).occursIn(question.text);
      return { state: "ok", holds, faults: [] };
    }
    const value = parse(question.value);
    if (!value) return { state: "ok", holds: false, faults: ["The value is not JSON."] };
    const { valid, errors } = validatorOf(question.schema).validate(value.json);
    return { state: "ok", holds: valid, faults: errors.slice(-faultsMax).map(faultText).reverse() };
  } catch (error) {
    // A stack that ran out, or a schema that the library cannot follow: nothing is said about the value.
    const reason = `This could not be checked: ${error instanceof Error ? error.message.slice(0, 200) : "unknown"}`;
    return { state: "unavailable", reason };
  }
}

function parse(text: string): { json: unknown } | null {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
}

function validatorOf(schema: string): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const read = JSON.parse(schema);
  const made = new Validator(read, draftOf(read) ?? "2020-12");
  schemaChars += schema.length;
  for (const oldest of validators.keys()) {
    if (validators.size < validatorsMax && schemaChars <= schemaCharsMax) break;
    validators.delete(oldest);
    schemaChars -= oldest.length;
  }
  validators.set(schema, made);
  return made;
}

/** The library lists the outer keywords first and the one at fault last. */
function faultText({ instanceLocation, error }: OutputUnit): string {
  const text = `${instanceLocation.replace(/^#\/?/, "") || "value"}: ${error}`;
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
