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
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { requireVerified } from "../frame/signed-in.ts";
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
  const route = routesOf(app, "judge");
  const { db, vault, environmentJudge, judgeTimeoutMs } = deps;
  const busy = "A test of the judge is already running. Wait for its result.";
  const trials = limitTrials(deps, { kind: "judge tests of projects", busy });

  route("GET /api/projects/:id/judge", {
    access: "tokens",
    summary: "Get the project's judge (key omitted)",
    answer: ProjectJudge,
    handler: async ({ id }) => viewOf(deps, id, await findJudgeConnection(db, vault, id)),
  });

  route("PUT /api/projects/:id/judge", {
    access: "session",
    summary: "Set the project's own judge; without `apiKey` the stored key is kept",
    body: ConnectionBody,
    answer: ProjectJudge,
    handler: async ({ id: projectId, body }) => {
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
  });

  route("DELETE /api/projects/:id/judge", {
    access: "session",
    summary: "Delete the project's own judge and its key",
    handler: async ({ id: projectId }) => {
      await deleteJudgeConnection(db, projectId);
      await retryWaitingSoon(db, projectId, hastenedMs);
    },
  });

  route("POST /api/projects/:id/judge/test", {
    access: "session",
    waits: true,
    summary: "Test the project's judge, or one that is not saved yet",
    body: z.object({ connection: ConnectionBody.optional() }).nullish(),
    answer: JudgeTrial,
    handler: async ({ id: projectId, body, account, reply }) => {
      requireVerified(account, "Judges can be called");
      const stored = await findJudgeConnection(db, vault, projectId);
      const draft = body?.connection;
      return trials(account.id, async () => {
        if (draft === undefined && stored?.keyUnreadable) return failedTrial(unreadableKey);
        const own = draft === undefined ? stored?.connection : parseJudgeConnection(draft, stored);
        const connection = own ? { ...own, timeoutMs: judgeTimeoutMs } : environmentJudge;
        if (!connection) return failedTrial(noJudge);
        const owner = draft !== undefined || stored ? projectId : null;
        const trial = await tryJudge(deps, connection, owner, untilClosed(reply));
        const judges = draft === undefined || isSame(stored?.connection, connection);
        if (trial.mode !== null && judges) await retryWaitingSoon(db, projectId, hastenedMs);
        return trial;
      });
    },
  });
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
): Promise<z.input<typeof ProjectJudge>> {
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
    testedAt: state?.testedAt ?? null,
    waiting: state?.wait ?? null,
    lowCount: state?.lowCount ?? null,
    pausedReason: stored?.keyUnreadable ? unreadableKey : (state?.pausedReason ?? null),
    environment: environmentJudge && {
      provider: environmentJudge.provider,
      host: hostOf(environmentJudge),
      model: environmentJudge.model,
    },
  };
}
