// Who judges a project's traces: its own connection, else the environment's; and a test that tries either.
import { z } from "zod";
import { type JudgeConnection, judgeModes, judgeProviders } from "../model/judge-call.ts";
import { hostOf, judgeConnectionSchema, parseJudgeConnection } from "../model/judge-connection.ts";
import { modesOf } from "../remote/judge-models.ts";
import { probeJudge } from "../remote/judge-probe.ts";
import type { OpenTrialLine } from "../remote/judge-trial.ts";
import {
  deleteJudgeConnection,
  findJudgeConnection,
  judgeTimeoutMs,
  type StoredJudge,
  saveJudgeConnection,
} from "../store/judge-connections.ts";
import { findJudgeState, fingerprintOf, pauseJudge, resumeJudge } from "../store/judge-states.ts";
import { hastenWaiting } from "../store/runs-waiting.ts";
import { unreadableSecret, type Vault } from "../store/vault.ts";
import type { App, Deps } from "./deps.ts";
import { found } from "./page.ts";
import { requireVerified } from "./session.ts";
import { limitTrials } from "./trials.ts";

export type JudgeConnectionDeps = {
  vault: Vault;
  /** The operator's; null: there is none. */
  environmentJudge: JudgeConnection | null;
  openTrialLine: OpenTrialLine;
  /** Milliseconds, always forward. */
  now?: () => number;
};

/** Nobody watches a button for longer; a model on someone's own machine may have to be loaded first. */
const patienceMs = 60_000;

/** By then no process goes by what it knew of the connection before. */
const hastenedMs = 2_000;

const { $schema: _, ...description } = z.toJSONSchema(judgeConnectionSchema, { io: "input" });
const Typed = z.unknown().meta(description);

const Provider = z.enum(judgeProviders);
const Mode = z.enum(judgeModes);
const Inherited = z.object({ provider: Provider, host: z.string(), model: z.string() });

const View = z
  .object({
    source: z.enum(["project", "environment"]).nullable().describe("Null: no judge is configured."),
    provider: Provider.nullable(),
    host: z.string().nullable(),
    url: z.string().nullable().describe("Of the project's own alone; null: the provider's own address."),
    model: z.string().nullable(),
    keySet: z.boolean(),
    keyLastFour: z.string().nullable().describe("Null of short keys and of the environment's."),
    concurrency: z.number().int().nullable(),
    tokensPerMinute: z.number().int().nullable(),
    mode: Mode.nullable().describe("How it takes the shape of an answer; null: not known yet."),
    testedAt: z.iso.datetime().nullable().describe("When a test last succeeded."),
    pausedReason: z
      .string()
      .nullable()
      .describe("Why it is not asked until it is edited or a test of it succeeds."),
    environment: Inherited.nullable().describe("What judges without a connection of the project's own."),
  })
  .meta({ id: "ProjectJudge" });

const Trial = z
  .object({
    ok: z.boolean().describe("Whether it answered, and as anyone would."),
    mode: Mode.nullable().describe("The first that works."),
    ms: z.number().int(),
    reason: z.string().describe("In one sentence, what came of it."),
    fault: z
      .enum(["later", "refused", "unusable", "budget", "misjudged"])
      .nullable()
      .describe("What kind of fault it was, and so what may mend it."),
    tried: z.array(z.object({ mode: Mode, ok: z.boolean(), reason: z.string() })),
  })
  .meta({ id: "ProjectJudgeTrial" });

export function registerJudgeConnections(app: App, deps: Deps & JudgeConnectionDeps): void {
  const { db, vault, environmentJudge } = deps;
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };
  const busy = "The judge is being tested already; wait for its answer.";
  const trials = limitTrials({ busy, now: deps.now });

  app.get(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Who judges the project's traces; keys are never told",
        response: { 200: View },
      },
    },
    async ({ params }) => viewOf(deps, params.id, await findJudgeConnection(db, vault, params.id)),
  );

  app.put(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Give the project a judge of its own; without `apiKey` it keeps the one it has",
        body: Typed,
        response: { 200: View },
      },
    },
    async ({ params, body }) => {
      const { id: projectId } = params;
      const former = await findJudgeConnection(db, vault, projectId);
      const saved = found(
        await saveJudgeConnection(db, vault, projectId, stored => parseJudgeConnection(body, stored)),
      );
      if (!isSame(former?.connection, saved.connection)) await hastenWaiting(db, projectId, hastenedMs);
      return viewOf(deps, projectId, saved);
    },
  );

  app.delete(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Forget the project's own judge and its key",
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      const { id: projectId } = request.params;
      await deleteJudgeConnection(db, projectId);
      await hastenWaiting(db, projectId, hastenedMs);
      return reply.code(204).send();
    },
  );

  app.post(
    "/api/projects/:id/judge/test",
    {
      schema: {
        ...schema,
        summary:
          "Put tiny questions to the judge, or to one that is not saved yet, and keep how it takes them",
        body: z.object({ connection: Typed.optional() }).nullish(),
        response: { 200: Trial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Judges are called");
      const { id: projectId } = request.params;
      const stored = await findJudgeConnection(db, vault, projectId);
      const draft = request.body?.connection;
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, async () => {
        if (draft === undefined && stored?.keyUnreadable) return failed(unreadableKey);
        const connection =
          draft === undefined
            ? (stored?.connection ?? environmentJudge)
            : { ...parseJudgeConnection(draft, stored), timeoutMs: judgeTimeoutMs };
        if (!connection) return failed(noJudge);
        const owner = draft !== undefined || stored ? projectId : null;
        const trial = await tryOut(deps, connection, owner, gone.signal);
        const judges = draft === undefined || isSame(stored?.connection, connection);
        if (trial.mode !== null && judges) await hastenWaiting(db, projectId, hastenedMs);
        return trial;
      });
    },
  );
}

const unreadableKey = `Its key ${unreadableSecret}.`;
const noJudge = "No judge is configured: there is nothing to test.";

/** Nothing that decides how it answers differs. */
function isSame(one: JudgeConnection | undefined, other: JudgeConnection): boolean {
  return one !== undefined && fingerprintOf(one, null).equals(fingerprintOf(other, null));
}

async function viewOf(
  { db, environmentJudge }: Deps & JudgeConnectionDeps,
  projectId: string,
  stored: StoredJudge | undefined,
): Promise<z.output<typeof View>> {
  const connection = stored?.connection ?? environmentJudge;
  const state = connection
    ? await findJudgeState(db, fingerprintOf(connection, stored ? projectId : null))
    : undefined;
  return {
    source: stored ? "project" : environmentJudge ? "environment" : null,
    provider: connection?.provider ?? null,
    host: connection ? hostOf(connection) : null,
    url: stored?.connection.url ?? null,
    model: connection?.model ?? null,
    keySet: connection?.apiKey != null || stored?.keyUnreadable === true,
    keyLastFour: stored?.keyLastFour ?? null,
    concurrency: connection?.concurrency ?? null,
    tokensPerMinute: connection?.tokensPerMinute ?? null,
    mode: state?.mode ?? null,
    testedAt: state?.testedAt?.toISOString() ?? null,
    pausedReason: stored?.keyUnreadable ? unreadableKey : (state?.pausedReason ?? null),
    environment: environmentJudge && {
      provider: environmentJudge.provider,
      host: hostOf(environmentJudge),
      model: environmentJudge.model,
    },
  };
}

/**
 * `projectId`: whose connection it is; null: the environment's. What is learned is kept by its fingerprint: it holds
 * once that very connection is saved, too.
 */
async function tryOut(
  { db, openTrialLine }: Deps & JudgeConnectionDeps,
  connection: JudgeConnection,
  projectId: string | null,
  gone: AbortSignal,
): Promise<z.output<typeof Trial>> {
  const late = AbortSignal.timeout(patienceMs);
  const lineOf = await openTrialLine(connection, { typed: projectId !== null });
  const probe = await probeJudge(lineOf, modesOf(connection.provider), AbortSignal.any([late, gone]));
  const fingerprint = fingerprintOf(connection, projectId);
  if (probe.mode !== null) await resumeJudge(db, fingerprint, probe.mode);
  else if (probe.state === "refused") await pauseJudge(db, fingerprint, probe.reason);
  const { state, ...trial } = probe;
  if (state === "ok") return { ...trial, fault: probe.ok ? null : "misjudged" };
  // It went on for too long, or whoever asked went away.
  if (state === "aborted") return { ...trial, reason: tooLate, fault: "later" };
  return { ...trial, fault: state };
}

const tooLate = `It did not answer within ${patienceMs / 1_000} s.`;

function failed(reason: string): z.output<typeof Trial> {
  return { ok: false, mode: null, ms: 0, reason, fault: "refused", tried: [] };
}
