// Overhead of the judge pipeline: traces judged in full, alternating with the same HTTP requests made directly.
import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { earlierMessages, materialFor } from "../../src/evaluate/material.ts";
import { TraceView } from "../../src/evaluate/trace-view.ts";
import { Judges } from "../../src/judge.ts";
import type { JudgeConnection } from "../../src/model/judge/call.ts";
import type { SemanticQuestion } from "../../src/model/judge/judge.ts";
import type { Material } from "../../src/model/judge/material.ts";
import type { MergedTrace, Span } from "../../src/model/trace/trace.ts";
import { derive } from "../../src/reading/derived/derive.ts";
import { openJudgeClient } from "../../src/remote/judge/client.ts";
import { openDatabase } from "../../src/store/db.ts";
import { openVault } from "../../src/store/secrets/vault.ts";

const judgedTests = 20;
const judgedChecks = 6;

type JudgingFigures = {
  /** Ms per trace: the first evaluation, its bare requests, and a second evaluation from the cache. */
  judged: number[];
  bare: number[];
  again: number[];
  callsPerTrace: number;
};

type Sent = { url: string; init: RequestInit };

/**
 * Evaluates traces one after the other, from a number on. All inputs differ, so that no trace is answered from the
 * cache.
 */
export async function judgingTimes(
  databaseUrl: string,
  {
    agentId,
    judgeUrl,
    first,
    traces,
    warmUp,
  }: { agentId: string; judgeUrl: string; first: number; traces: number; warmUp: number },
): Promise<JudgingFigures> {
  const connection: JudgeConnection = {
    ...{ provider: "openai_compatible", url: judgeUrl, model: "bench", apiKey: "bench" },
    ...{ timeoutMs: 30_000, concurrency: 8, tokensPerMinute: null },
  };
  const db = openDatabase(databaseUrl, 4);
  const log = pino({ level: "silent" });
  let sent: Sent[] = [];
  const judges = new Judges({
    db,
    vault: openVault(randomBytes(32)),
    environment: connection,
    timeoutMs: 60_000,
    log,
    openClient: (to, { mode, onMode }) =>
      openJudgeClient(to, {
        ...{ log, mode, onMode },
        fetch: (url, init) => {
          sent.push({ url: String(url), init: { ...init, signal: null } });
          return fetch(url, init);
        },
      }),
  });
  const judgeTrace = async (trace: number) => {
    const context = {
      agentId,
      traceId: null,
      runId: null,
      deadlineAt: Date.now() + 900_000,
      tries: 0,
    };
    const judge = judges.judgeOf(context);
    const merged = traceOf(trace);
    const derived = derive(merged);
    const earlier = earlierMessages(merged.spans, derived)!;
    const found = derived.judgedText!;
    const material = materialFor(
      new TraceView(merged, derived),
      { found, ofSpan: false },
      "conversation_and_tools",
    )!;
    const routed = await judge.route({ userInput: inputOf(trace), earlier, scenarios });
    const answers = await judge.ask(questionsOf(trace, material));
    if (routed.code !== "ok" || answers.some(({ code }) => code !== "ok")) {
      throw new Error("The judge left questions unanswered.");
    }
  };
  const figures: JudgingFigures = { judged: [], bare: [], again: [], callsPerTrace: 0 };
  for (let trace = first - warmUp; trace < first + traces; trace++) {
    sent = [];
    const judged = await timed(() => judgeTrace(trace));
    const [routes, checks] = [sent.slice(0, -1), sent.slice(-1)];
    const bare = await timed(async () => {
      await Promise.all(routes.map(put));
      await Promise.all(checks.map(put));
    });
    const calls = sent.length;
    const again = await timed(() => judgeTrace(trace));
    if (sent.length > calls)
      throw new Error("The second evaluation called the judge instead of using the cache.");
    if (trace < first) continue;
    figures.judged.push(judged);
    figures.bare.push(bare);
    figures.again.push(again);
    figures.callsPerTrace = calls;
  }
  await judges.close();
  await db.close();
  return figures;
}

async function put({ url, init }: Sent): Promise<void> {
  const response = await fetch(url, init);
  if (!response.ok) throw new Error(`The judge answered ${response.status}`);
  await response.json();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const scenarios = Array.from({ length: judgedTests }, (_, at) => ({
  testId: randomUUID(),
  scenario: `The user asks about matter ${at} of an order, such as where it is, or what it costs to send it back.`,
}));

/** About 1 KB, like a question in a support chat with pasted text. */
function inputOf(trace: number): string {
  return `Where is order ${trace}? `.concat(
    "I ordered it last week and have heard nothing since. ".repeat(20),
  );
}

/** About 2 KB. */
function replyOf(trace: number): string {
  return `Order ${trace} has left our warehouse. `.concat(
    "It arrives within two days; you may send it back for thirty. ".repeat(32),
  );
}

/** A conversation of 20 messages, all of which each of its four model calls repeats, and three tool calls: 24 KB of text. */
function traceOf(trace: number): MergedTrace {
  const message = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
  const history = Array.from({ length: 20 }, (_, at) =>
    message(at % 2 === 0 ? "user" : "assistant", `Message ${at}. ${"We talked about it. ".repeat(20)}`),
  );
  const input = JSON.stringify([...history, message("user", inputOf(trace))]);
  const span = (id: string, from: number, attributes: Span["attributes"]): Span => ({
    ...{ span_id: id, parent_span_id: id === "root" ? null : "root", name: id, attributes },
    ...{ start_time_unix_nano: String(from), end_time_unix_nano: String(from + 9), status: null, events: [] },
  });
  const spans = [
    span("root", 0, { "gen_ai.response.text": replyOf(trace) }),
    ...[10, 30, 50, 70].map(at => span(`llm${at}`, at, { "gen_ai.input.messages": input })),
    ...[20, 40, 60].map(at =>
      span(`tool${at}`, at, {
        "gen_ai.tool.name": "find_order",
        "gen_ai.tool.call.arguments": `{"order":${trace},"part":${at}}`,
        "gen_ai.tool.call.result": `{"state":"sent","log":"${"Seen in a warehouse. ".repeat(250)}"}`,
      }),
    ),
  ];
  return { spans, resource: null, metadata: null, path: "canonical" };
}

function questionsOf(trace: number, material: Material): SemanticQuestion[] {
  const response = replyOf(trace);
  return scenarios.slice(0, judgedChecks).map(({ testId, scenario }, at) => ({
    ...{
      testId,
      assertionId: "a1",
      scenario,
      userInput: inputOf(trace),
      response,
      threshold: 0.6,
      negate: false,
      material,
    },
    criteria: [`The reply says ${at} of what was asked for.`],
  }));
}
