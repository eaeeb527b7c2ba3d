// Inside the sandbox's thread: validates values against schemas and searches texts for patterns.
import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { SandboxAnswer, SandboxQuestion } from "../../model/sandbox.ts";
import { draftOf } from "../../model/test-case/json-schema.ts";
import { compilePattern } from "../../model/test-case/pattern.ts";

const faultsMax = 5;
/** A batch that has taken this long is returned unfinished: its questions share the time limit of one. */
const batchMs = 50;
const validatorsMax = 100;
/** Characters of schemas whose validators are cached: each holds a path for every level, up to 60 times its text. */
const schemaCharsMax = 256 * 1024;
const validators = new Map<string, Validator>();
let schemaChars = 0;

/** Answers to the first of the questions, at least one. */
export default function answerBatch(questions: SandboxQuestion[]): SandboxAnswer[] {
  const begun = performance.now();
  const answers: SandboxAnswer[] = [];
  for (const question of questions) {
    answers.push(answerTo(question));
    if (performance.now() - begun > batchMs) break;
  }
  return answers;
}

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
    // The stack overflowed, or the library cannot follow the schema: the value is neither valid nor invalid.
    const message = error instanceof Error ? error.message.slice(0, 200) : "unknown error";
    return { state: "unavailable", reason: { code: "sandbox_failed", data: { message } } };
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

/** The library lists the outer keywords first and the failing one last. */
function faultText({ instanceLocation, error }: OutputUnit): string {
  const text = `${instanceLocation.replace(/^#\/?/, "") || "value"}: ${error}`;
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
