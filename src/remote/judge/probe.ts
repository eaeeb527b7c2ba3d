// Tries a judge: which way of asking for an answer's shape works, and whether it sees what anyone would see.
import type {
  JudgeCallState,
  JudgeLine,
  JudgeMode,
  LineReply,
  RouteAsk,
  SemanticAsk,
} from "../../model/judge/call.ts";

export type Probe = {
  /** It answered, and as anyone would. */
  ok: boolean;
  /** The first that works; null: none does, or it was never got so far. */
  mode: JudgeMode | null;
  ms: number;
  /** A sentence, whatever came of it. */
  reason: string;
  /** In the order in which they were tried. */
  tried: { mode: JudgeMode; ok: boolean; reason: string }[];
  /** How the last call ended. */
  state: JudgeCallState;
};

// Whatever can tell one thing from another says "met" and "match".
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

/**
 * `lineOf` opens a line that begins with a mode, and may go on to a weaker one by itself; `modes` are those that the
 * provider knows, the strictest first. Never throws.
 */
export async function probeJudge(
  lineOf: (mode: JudgeMode) => Pick<JudgeLine, "judge" | "route">,
  modes: JudgeMode[],
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<Probe> {
  const started = now();
  const tried: Probe["tried"] = [];
  const end = (state: JudgeCallState, mode: JudgeMode | null, reason: string, ok = false): Probe => ({
    ok,
    mode,
    ms: Math.round(now() - started),
    reason,
    tried,
    state,
  });
  for (let at = 0; at < modes.length; ) {
    const line = lineOf(modes[at]!);
    const first = await line.judge(semantic, signal);
    // What was passed over on the way was refused by the server.
    const used = Math.max(at, modes.indexOf(first.call?.mode ?? modes[at]!));
    for (; at < used; at += 1) {
      tried.push({ mode: modes[at]!, ok: false, reason: "The server does not take this." });
    }
    const mode = modes[used]!;
    const second = first.state === "ok" ? await line.route(routing, signal) : first;
    if (first.state === "ok" && second.state === "ok") {
      tried.push({ mode, ok: true, reason: "It answered in the shape that was asked for." });
      const seen = isMet(first.value.get("c1")?.verdict) && second.value.get("s1")?.label === "match";
      return end("ok", mode, seen ? asExpected : misjudged, seen);
    }
    const { state, reason } = second as Exclude<LineReply<never>, { state: "ok" }>;
    tried.push({ mode, ok: false, reason });
    if (state !== "unusable") return end(state, null, reason);
    at = used + 1;
  }
  return end("unusable", null, "It answers, but in none of the ways that were tried as it was asked to.");
}

const asExpected = "It answered as expected.";
const misjudged =
  "It answered, but misjudged a short reply about a parcel that leaves no doubt: a larger model may judge better.";

function isMet(verdict: string | undefined): boolean {
  return verdict === "met" || verdict === "mostly";
}
