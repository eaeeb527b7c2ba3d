// Inside the sandbox's thread: validates values against schemas and searches texts for patterns.
import { mayBeAltered, parseExactly } from "../../model/json-exact.ts";
import "./linear-patterns.ts";
import "./malformed-names.ts";
import type { SandboxAnswer, SandboxQuestion } from "../../model/sandbox.ts";
import { compilePattern, PatternFault } from "../../model/test-case/pattern.ts";
import { batchMs, type SandboxBatch, type TimedAnswer } from "./batch.ts";
import { SchemaFault, validatorOf } from "./validators.ts";

/** Answers to the first of the questions, at least one. */
export default function answerBatch({ questions, progress }: SandboxBatch): TimedAnswer[] {
  const begun = performance.now();
  const answers: TimedAnswer[] = [];
  let cpuMs = threadCpuMs();
  for (const [at, question] of questions.entries()) {
    Atomics.store(progress, 0, at);
    if (at === 0) Atomics.notify(progress, 0);
    const answer = answerTo(question);
    const before = cpuMs;
    cpuMs = threadCpuMs();
    answers.push({ answer, ms: cpuMs - before });
    if (performance.now() - begun > batchMs) break;
  }
  return answers;
}

// On a busy machine a question takes longer than it works.
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function answerTo(question: SandboxQuestion): SandboxAnswer {
  try {
    if (question.kind === "pattern") {
      const holds = compilePattern(question.pattern, question.flags).occursIn(question.text);
      return { state: "ok", holds, faults: [] };
    }
    const value = parse(question.value);
    if (!value) return { state: "ok", holds: false, faults: ["The value is not JSON."] };
    if (value.integers.size > 0) checkComparable(value.integers, question.schema);
    const faults = validatorOf(question.schema)(value.json);
    return { state: "ok", holds: faults.length === 0, faults };
  } catch (error) {
    // The value is neither valid nor invalid.
    return { state: "unavailable", reason: { code: "sandbox_failed", data: { message: messageOf(error) } } };
  }
}

/** In our own words: the messages of libraries name their internals. */
function messageOf(error: unknown): string {
  if (error instanceof PatternFault || error instanceof SchemaFault) return error.message;
  if (error instanceof RangeError) return "The schema is nested too deeply, or refers to itself endlessly.";
  return "The schema is not supported. Save the test again to see why.";
}

/** `integers`: the digits of those beyond ±(2^53−1), which `json` has as doubles. */
function parse(text: string): { json: unknown; integers: Set<string> } | null {
  const integers = new Set<string>();
  try {
    const json: unknown = JSON.parse(text);
    if (!mayBeAltered(text)) return { json, integers };
    const read = parseExactly(text, digits => {
      integers.add(digits);
      return Number(digits);
    });
    return { json: read, integers };
  } catch {
    return null;
  }
}

/** Throws where a double that stands for an integer of the value could be taken for another one of the schema. */
function checkComparable(integers: Set<string>, schema: string): void {
  const limits = Array.from(schema.matchAll(/(?<![\d.])-?[1-9]\d{15,}(?!\.)/g), ([digits]) => digits);
  const byDouble = Map.groupBy(limits, Number);
  const isDivided = schema.includes('"multipleOf"');
  for (const digits of integers) {
    const alike = byDouble.get(Number(digits)) ?? [];
    if (alike.some(limit => limit !== digits) || (isDivided && String(Number(digits)) !== digits)) {
      throw new SchemaFault("The value has an integer that is too large to compare with the schema.");
    }
  }
}
