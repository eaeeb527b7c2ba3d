// /api/projects/:id/judge: the project's own judge or the environment's, and testing either.

import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { JudgeConnection } from "../../model/judge/call.ts";
import {
  hostOf,
  judgeConnectionSchema,
  parseJudgeConnection,
  type TypedJudge,
} from "../../model/judge/connection.ts";
import {
  deleteJudgeConnection,
  findJudgeConnection,
  type StoredJudge,
  saveJudgeConnection,
} from "../../store/judge/connections.ts";
import { clearWaits, findJudgeState, fingerprintOf } from "../../store/judge/states.ts";
import { retryWaitingSoon } from "../../store/runs/waiting.ts";
import { unreadableSecret, type Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../deps.ts";
import { found } from "../page.ts";
import { limitTrials } from "../rate-limit.ts";
import { requireVerified } from "../signed-in.ts";
import { JudgeTrial, ProjectJudge } from "./schemas.ts";
import { failedTrial, type JudgeTrialDeps, tryJudge } from "./trials.ts";

export type JudgeConnectionDeps = JudgeTrialDeps & {
  vault: Vault;
  /** The judge that the environment configures; null: none. */
  environmentJudge: JudgeConnection | null;
  /** For one call of a project's own judge. */
  judgeTimeoutMs: number;
};

/** Time for other processes to notice the change. */
const hastenedMs = 2_000;

const { $schema: _, ...description } = z.toJSONSchema(judgeConnectionSchema, { io: "input" });
const ConnectionBody = z.unknown().meta(description);

export function registerJudgeConnections(app: App, deps: Deps & JudgeConnectionDeps): void {
  const { db, vault, environmentJudge, judgeTimeoutMs } = deps;
  const schema = { tags: ["judge"], params: z.object({ id: z.string() }) };
  const busy = "A test of the judge is already running. Wait for its result.";
  const trials = limitTrials(deps, { kind: "judge tests of projects", busy });

  app.get(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Get the project's judge (key omitted)",
        response: { 200: ProjectJudge },
      },
    },
    async ({ params }) => viewOf(deps, params.id, await findJudgeConnection(db, vault, params.id)),
  );

  app.put(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Set the project's own judge; without `apiKey` the stored key is kept",
        body: ConnectionBody,
        response: { 200: ProjectJudge },
      },
    },
    async ({ params, body }) => {
      const { id: projectId } = params;
      const former = await findJudgeConnection(db, vault, projectId);
      const saved = found(
        await saveJudgeConnection(db, vault, projectId, stored => parseJudgeConnection(body, stored)),
      );
      // An edit clears the Retry-After of its server: each process opens a new client.
      if (!isDeepStrictEqual(former?.connection, saved.connection)) {
        await clearWaits(db, fingerprintOf(saved.connection, projectId));
        await retryWaitingSoon(db, projectId, hastenedMs);
      }
      return viewOf(deps, projectId, saved);
    },
  );

  app.delete(
    "/api/projects/:id/judge",
    {
      schema: {
        ...schema,
        summary: "Delete the project's own judge and its key",
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      const { id: projectId } = request.params;
      await deleteJudgeConnection(db, projectId);
      await retryWaitingSoon(db, projectId, hastenedMs);
      return reply.code(204).send();
    },
  );

  app.post(
    "/api/projects/:id/judge/test",
    {
      config: { waits: true },
      schema: {
        ...schema,
        summary: "Test the project's judge, or one that is not saved yet",
        body: z.object({ connection: ConnectionBody.optional() }).nullish(),
        response: { 200: JudgeTrial },
      },
    },
    async (request, reply) => {
      const account = requireVerified(request, "Judges can be called");
      const { id: projectId } = request.params;
      const stored = await findJudgeConnection(db, vault, projectId);
      const draft = request.body?.connection;
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return trials(account.id, async () => {
        if (draft === undefined && stored?.keyUnreadable) return failedTrial(unreadableKey);
        const own = draft === undefined ? stored?.connection : parseJudgeConnection(draft, stored);
        const connection = own ? { ...own, timeoutMs: judgeTimeoutMs } : environmentJudge;
        if (!connection) return failedTrial(noJudge);
        const owner = draft !== undefined || stored ? projectId : null;
        const trial = await tryJudge(deps, connection, owner, gone.signal);
        const judges = draft === undefined || isSame(stored?.connection, connection);
        if (trial.mode !== null && judges) await retryWaitingSoon(db, projectId, hastenedMs);
        return trial;
      });
    },
  );
}

const unreadableKey = `Its key ${unreadableSecret}.`;
const noJudge = "No judge is configured.";

/** Whether both are the same judge: provider, URL, model and key. */
function isSame(one: TypedJudge | undefined, other: TypedJudge): boolean {
  return one !== undefined && fingerprintOf(one, null).equals(fingerprintOf(other, null));
}

async function viewOf(
  { db, environmentJudge }: Deps & JudgeConnectionDeps,
  projectId: string,
  stored: StoredJudge | undefined,
): Promise<ProjectJudge> {
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
    headers: (stored?.connection.headers ?? []).map(({ name }) => ({ name })),
    keySet: connection?.apiKey != null || stored?.keyUnreadable === true,
    keyLastFour: stored?.keyLastFour ?? null,
    concurrency: connection?.concurrency ?? null,
    tokensPerMinute: connection?.tokensPerMinute ?? null,
    votes: connection?.votes === true,
    mode: state?.mode ?? null,
    testedAt: state?.testedAt?.toISOString() ?? null,
    waiting: state?.wait ? { until: state.wait.until.toISOString(), reason: state.wait.reason } : null,
    lowCount: state?.lowCount ? { ...state.lowCount, at: state.lowCount.at.toISOString() } : null,
    pausedReason: stored?.keyUnreadable ? unreadableKey : (state?.pausedReason ?? null),
    environment: environmentJudge && {
      provider: environmentJudge.provider,
      host: hostOf(environmentJudge),
      model: environmentJudge.model,
    },
  };
}
