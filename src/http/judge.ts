// The judge as it is configured here, and one tiny question to see that it answers.
import { z } from "zod";
import type { JudgeConnection, JudgeLine, RouteAsk } from "../model/judge-call.ts";
import { hostOf } from "../model/judge-connection.ts";
import type { OpenTrialLine } from "../remote/judge-trial.ts";
import type { App, Deps } from "./deps.ts";
import { requireVerified } from "./session.ts";
import { limitTrials } from "./trials.ts";

/** Nobody watches a button for as long as a run may wait. */
const patienceMs = 30_000;

// Whatever can tell one thing from another says "match".
const question: RouteAsk = {
  userInput: "Where is my parcel? I ordered it last week.",
  scenarios: [{ id: "s1", scenario: "The user asks where an order is." }],
};

const About = z
  .object({
    configured: z.boolean(),
    host: z.string().nullable().describe("Of SVC_JUDGE_URL, or the provider's own."),
    model: z.string().nullable(),
  })
  .meta({ id: "Judge" });

const Trial = z
  .object({
    ok: z.boolean().describe("Whether it answered, and as anyone would."),
    ms: z.number().int(),
    reason: z.string().describe("In one sentence, what came of it."),
  })
  .meta({ id: "JudgeTrial" });

export type JudgeDeps = {
  /** The operator's; null: there is none. */
  environmentJudge: JudgeConnection | null;
  openTrialLine: OpenTrialLine;
};

export function registerJudge(app: App, { environmentJudge: judge, openTrialLine }: Deps & JudgeDeps): void {
  const tags = ["judge"];
  const trials = limitTrials({ busy: "The judge is being asked already; wait for its answer." });

  app.get(
    "/api/judge",
    {
      schema: {
        tags,
        summary: "Which judge this process has; its key is never told",
        response: { 200: About },
      },
    },
    async () => ({
      configured: judge !== null,
      host: judge ? hostOf(judge) : null,
      model: judge?.model ?? null,
    }),
  );

  app.post(
    "/api/judge/test",
    {
      schema: {
        tags,
        summary: "Put one tiny question to the judge, and store nothing; one at a time per account",
        response: { 200: Trial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Judges are called");
      if (!judge) return { ok: false, ms: 0, reason: "No judge is configured; set SVC_JUDGE_MODEL." };
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, async () => {
        const lineOf = await openTrialLine(judge, { typed: false });
        return tryOut(lineOf("json_schema"), gone.signal);
      });
    },
  );
}

async function tryOut(line: Pick<JudgeLine, "route">, gone: AbortSignal): Promise<z.output<typeof Trial>> {
  const late = AbortSignal.timeout(patienceMs);
  const started = performance.now();
  const answer = await line.route(question, AbortSignal.any([late, gone]));
  const ms = Math.round(performance.now() - started);
  if (answer.state !== "ok") {
    const reason = late.aborted ? `It did not answer within ${patienceMs / 1000} s.` : answer.reason;
    return { ok: false, ms, reason };
  }
  const label = answer.value.get("s1")?.label;
  if (label === undefined) return { ok: false, ms, reason: "It answered, but its answer is unusable." };
  if (label === "match") return { ok: true, ms, reason: "It answered as expected." };
  const reason =
    "It answered, but did not see that a question about a parcel is one about an order: a larger model may judge better.";
  return { ok: false, ms, reason };
}
