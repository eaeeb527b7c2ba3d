// Tests a judge: finds the output mode that works, and whether the judge gets an obvious question right.
import type { Logger } from "pino";
import type {
  JudgeCallState,
  JudgeConnection,
  JudgeMode,
  RouteAsk,
  SemanticAsk,
} from "../../model/judge/call.ts";
import { type JudgeReason, reasonText } from "../../model/run/reason.ts";
import type { Outbound } from "../outbound.ts";
import type { JudgeClient, JudgeClientOptions, JudgeReply } from "./client.ts";

export type Probe = {
  /** The judge answered, and correctly. */
  ok: boolean;
  /** The first mode that works; null if none does, or if it was not reached. */
  mode: JudgeMode | null;
  /** Whether the model takes a system role. */
  systemRole: boolean;
  ms: number;
  /** One sentence, whatever the result. */
  reason: string;
  /** What `reason` was made of; null for a judge that answers. */
  detail: JudgeReason | null;
  /** In the order in which they were tried. */
  tried: { mode: JudgeMode; ok: boolean; reason: string }[];
  /** How the last call ended. */
  state: JudgeCallState;
};

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

// Every usable judge says "met" and "match".
const semantic: SemanticAsk = {
  userInput: "Where is my parcel? I ordered it last week.",
  replies: [{ id: "r1", text: "Your parcel has left our warehouse and arrives tomorrow, on Friday." }],
  criteria: [
    {
      id: "c1",
      replyId: "r1",
      scenario: "The user asks where an order is.",
      criterion: "The reply says on which day the parcel arrives.",
    },
  ],
};
const routing: RouteAsk = {
  userInput: semantic.userInput!,
  scenarios: [{ id: "s1", scenario: "The user asks where an order is." }],
};

/** `modes`: those that the provider has, the strictest first. Never throws. */
export async function probeJudge(
  clientOf: ProbeClients,
  modes: JudgeMode[],
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<Probe> {
  const { routeRequest, semanticRequest } = await import("./client.ts");
  const started = now();
  const tried: Probe["tried"] = [];
  let systemRole = true;
  const end = (
    state: JudgeCallState,
    mode: JudgeMode | null,
    reason: string,
    more: Partial<Probe> = {},
  ): Probe => ({
    ...{ ok: false, mode, systemRole, ms: Math.round(now() - started), reason, detail: null, tried, state },
    ...more,
  });
  for (let at = 0; at < modes.length; ) {
    systemRole = true;
    const client = clientOf(modes[at]!, (_, role) => {
      systemRole = role;
    });
    const judged = await client.call(semanticRequest(semantic), signal);
    const routed = judged.code === "ok" ? await client.call(routeRequest(routing), signal) : judged;
    // The server rejected the modes that were passed over on the way, unless the second call took a stricter one.
    const used = Math.max(at, modes.indexOf(routed.call?.mode ?? modes[at]!));
    for (; at < used; at += 1) tried.push({ mode: modes[at]!, ok: false, reason: "Not supported." });
    const mode = modes[used]!;
    if (judged.code === "ok" && routed.code === "ok") {
      tried.push({ mode, ok: true, reason: "Works." });
      const verdict = judged.value.get("c1")?.verdict;
      const isRight =
        (verdict === "met" || verdict === "mostly") && routed.value.get("s1")?.label === "match";
      return end("ok", mode, isRight ? works : misjudged, { ok: isRight });
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

/** Unusable, whatever the mode. */
const inEveryMode: string[] = ["judge_context_exceeded", "judge_system_role_rejected"];

const works = "The judge works.";
const misjudged =
  "The judge works, but misjudged an obvious reply about a parcel. A larger model may judge better.";
