// Tests a judge: finds the output mode that works, whether the judge gets an obvious question right, and whether it reads
// a prompt of the largest size.

import type { Logger } from "pino";
import type {
  JudgeCallState,
  JudgeConnection,
  JudgeMode,
  RouteAsk,
  SemanticAsk,
  TokenCount,
  Verdicts,
} from "../../model/judge/call.ts";
import { fitMaterial } from "../../model/judge/material.ts";
import { promptBounds } from "../../model/judge/prompt-bounds.ts";
import type { JudgeReason } from "../../model/judge/reason.ts";
import { reasonText } from "../../model/run/reason-text.ts";
import type { Outbound } from "../outbound.ts";
import type { JudgeClient, JudgeClientOptions, JudgeReply } from "./client.ts";
import { knownQuestion } from "./known-question.ts";

export type Probe = {
  /** The judge answered, and correctly. */
  ok: boolean;
  /** The first mode that works; null if none does, or if it was not reached. */
  mode: JudgeMode | null;
  /** Whether the model takes a system role. */
  systemRole: boolean;
  /** Whether it takes temperature 0. */
  temperature: boolean;
  ms: number;
  /** One sentence, whatever the result. */
  reason: string;
  /** What `reason` was made of; null for a judge that answers. */
  detail: JudgeReason | null;
  /** In the order in which they were tried. */
  tried: { mode: JudgeMode; ok: boolean; reason: string }[];
  /** How the call that decided the result ended; "ok" if the judge answers, if only short prompts. */
  state: JudgeCallState;
  /** Of a judge that answers short prompts. */
  fault: ProbeFault | null;
  /** The server counted far fewer tokens of the long prompt than were sent. */
  lowCount: TokenCount | null;
};

/** "misjudged": it missed the obvious. "context": it did not get the whole of a long prompt. */
export type ProbeFault = "misjudged" | "context" | "later" | "refused" | "unusable";

/** Makes a client that starts with a mode, and may fall back to a weaker one. `onMode`: as a client calls it. */
export type ProbeClients = (
  mode: JudgeMode,
  onMode: NonNullable<JudgeClientOptions["onMode"]>,
) => Pick<JudgeClient, "call">;

/** `userSupplied`: a user entered the URL, so only public and allowed addresses are called. */
export type OpenProbe = (
  connection: JudgeConnection,
  options: { userSupplied: boolean },
) => Promise<ProbeClients>;

export function openProbes(deps: {
  outbound: Pick<Outbound, "fetch">;
  log: Pick<Logger, "info" | "warn">;
}): OpenProbe {
  const { outbound, log } = deps;
  return async (connection, { userSupplied }) => {
    // Loaded on first use: other threads make the calls that judge traces.
    const [{ openJudgeClient }, { judgeFetch }] = await Promise.all([
      import("./client.ts"),
      import("./call.ts"),
    ]);
    const fetch = userSupplied ? { fetch: judgeFetch(outbound, connection.timeoutMs) } : {};
    return (mode, onMode) => openJudgeClient(connection, { log, mode, onMode, ...fetch });
  };
}

// Every usable judge says "match", and "met" to the known question.
const routing: RouteAsk = {
  userInput: knownQuestion.userInput,
  scenarios: [{ id: "s1", scenario: "The user asks where an order is." }],
};

/** The obvious sentence comes first: a server that cuts a prompt to its context keeps the end of it. */
function longSemantic(): SemanticAsk {
  const [{ id, text }] = knownQuestion.replies as [SemanticAsk["replies"][number]];
  const reply = `${text} ${timetable(promptBounds.reply - text.length - 1)}`;
  const userInput = `${knownQuestion.userInput} ${timetable(promptBounds.userInput - knownQuestion.userInput.length - 1)}`;
  const place = { spanId: "", attribute: null };
  const result = timetable(promptBounds.conversation);
  const items = [{ kind: "tool_result" as const, name: "timetable", text: result, ...place }];
  const material = fitMaterial({ items, complete: true }, { tools: true, replyLength: reply.length });
  return { ...knownQuestion, userInput, material, replies: [{ id, text: reply }] };
}

function timetable(characters: number): string {
  let text = "";
  for (let shop = 1; text.length < characters; shop++) {
    text += `Shop ${shop} opens at ${7 + (shop % 4)} and closes at ${16 + (shop % 5)}. `;
  }
  return text.slice(0, characters);
}

/** `modes`: those that the provider has, the strictest first. Never throws. */
export async function probeJudge(
  clientOf: ProbeClients,
  modes: JudgeMode[],
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<Probe> {
  const { ownRequest, routeRequest } = await import("./client.ts");
  const started = now();
  const tried: Probe["tried"] = [];
  let [systemRole, temperature] = [true, true];
  const end = (
    state: JudgeCallState,
    mode: JudgeMode | null,
    reason: string,
    more: Partial<Probe> = {},
  ): Probe => ({
    ...{ ok: false, mode, systemRole, temperature, ms: Math.round(now() - started), reason, detail: null },
    ...{ tried, state, fault: null, lowCount: null, ...more },
  });
  for (let at = 0; at < modes.length; ) {
    [systemRole, temperature] = [true, true];
    const client = clientOf(modes[at]!, (_, ...taken) => {
      [systemRole, temperature] = taken;
    });
    const judged = await client.call(ownRequest(), signal);
    const routed = judged.code === "ok" ? await client.call(routeRequest(routing), signal) : judged;
    // The server rejected the modes that were passed over on the way, unless the second call took a stricter one.
    const used = Math.max(at, modes.indexOf(routed.call?.mode ?? modes[at]!));
    for (; at < used; at += 1) tried.push({ mode: modes[at]!, ok: false, reason: "Not supported." });
    const mode = modes[used]!;
    if (judged.code === "ok" && routed.code === "ok") {
      tried.push({ mode, ok: true, reason: "Works." });
      if (!isMet(judged.value) || routed.value.get("s1")?.label !== "match") {
        return end("ok", mode, misjudged, { fault: "misjudged" });
      }
      const { reason, state = "ok", ...more } = await tryLong(client, signal);
      return end(state, mode, reason, { ok: more.fault === null, ...more });
    }
    const { code, detail } = routed as Exclude<JudgeReply<never>, { code: "ok" }>;
    const reason = reasonText(detail);
    tried.push({ mode, ok: false, reason });
    if (code !== "unusable" || inEveryMode.includes(detail.code)) {
      return end(code as JudgeCallState, null, reason, { detail });
    }
    at = used + 1;
  }
  return end("unusable", null, "The judge answers, but not in any of the supported output modes.");
}

function isMet(verdicts: Verdicts): boolean {
  return ["met", "mostly"].includes(verdicts.get("c1")?.verdict ?? "");
}

type LongResult = Pick<Probe, "reason" | "fault" | "lowCount"> & { state?: "aborted" };

/** Asks the obvious question about a reply and an input of the largest size. */
async function tryLong(client: Pick<JudgeClient, "call">, signal: AbortSignal): Promise<LongResult> {
  const { semanticRequest } = await import("./client.ts");
  const { lowCountOf } = await import("./token-count.ts");
  const request = semanticRequest(longSemantic());
  const reply = await client.call(request, signal);
  const lowCount = reply.code === "ok" && reply.call ? lowCountOf(reply.call, request.prompt) : null;
  if (reply.code === "ok") {
    const reason = !isMet(reply.value) ? overlooked : lowCount ? countedLess(lowCount) : works;
    return { reason, fault: isMet(reply.value) ? null : "misjudged", lowCount };
  }
  // The mode is known all the same.
  if (reply.code === "aborted") return { reason: onlyShort, fault: "later", lowCount, state: "aborted" };
  const why = reasonText(reply.detail);
  const isContext = tooSmall.includes(reply.detail.code);
  if (isContext) return { reason: `${onlyShort} ${why} ${contextNeeded}`, fault: "context", lowCount };
  const fault = reply.code === "later" || reply.code === "refused" ? reply.code : "unusable";
  return { reason: `${onlyShort} ${why}`, fault, lowCount };
}

/** Unusable, whatever the mode. */
const inEveryMode: string[] = ["judge_context_exceeded", "judge_system_role_rejected"];

const tooSmall: string[] = ["judge_context_exceeded", "judge_context_too_small"];

/** Enough for the largest prompt, of about 25,000 tokens, and its answer. */
const contextTokens = 32_000;

const works = "The judge works.";
const onlyShort = "The judge works with short prompts, but did not answer a long one.";
const contextNeeded = `A context of ${contextTokens.toLocaleString("en")} tokens is enough.`;
const overlooked =
  "The judge works with short prompts, but overlooked an obvious sentence in a long one. Its context may be too small.";

function countedLess({ counted, sent }: TokenCount): string {
  return `The judge works, but its server counted only ${counted.toLocaleString("en")} of about ${sent.toLocaleString(
    "en",
  )} tokens of a long prompt: its context may be cut. ${contextNeeded}`;
}
const misjudged =
  "The judge works, but misjudged an obvious reply about a parcel. A larger model may judge better.";
