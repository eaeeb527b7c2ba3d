// /api/projects/:id/labels/try: asks a judge, saved or not, what labels say it should answer.

import { z } from "zod";
import type { Editor } from "../../editor.ts";
import { judgeConnectionSchema, parseJudgeConnection } from "../../model/judge/connection.ts";
import { findJudgeConnection } from "../../store/judge/connections.ts";
import type { Vault } from "../../store/secrets/vault.ts";
import type { App, Deps } from "../frame/deps.ts";
import { PageQuery, pageOf } from "../frame/page.ts";
import { limitTrials } from "../frame/rate-limit.ts";
import { routesOf, untilClosed } from "../frame/route.ts";
import { Id } from "../frame/schemas.ts";
import { requireVerified } from "../frame/signed-in.ts";
import { LabelTrial } from "./label-schemas.ts";

export type LabelTrialDeps = {
  editor: Pick<Editor, "tryLabels">;
  vault: Vault;
  /** For one call. */
  judgeTimeoutMs: number;
};

const triedMax = 50;
const pagesPerMinute = 120;

const { $schema: _, ...description } = z.toJSONSchema(judgeConnectionSchema, { io: "input" });

export function registerLabelTrials(app: App, deps: Deps & LabelTrialDeps): void {
  const route = routesOf(app, "judge");
  const { db, editor, vault, judgeTimeoutMs } = deps;
  const busy = "A judge is already being tried on labels. Wait for its result.";
  const trials = limitTrials(deps, { kind: "label trials", busy, perMinuteMax: pagesPerMinute });

  route("POST /api/projects/:id/labels/try", {
    access: "session",
    waits: true,
    summary: "Ask a judge again what was labeled, newest first, and compare its answers with the labels",
    body: z.object({
      connection: z
        .unknown()
        .meta(description)
        .optional()
        .describe("As for PUT of the project's judge; need not be saved. Default: the project's judge."),
      testId: Id.optional(),
      cursor: PageQuery.shape.cursor,
      estimate: z
        .boolean()
        .default(false)
        .describe("True: the judge is not called, and the answer has an estimate of the calls."),
      limit: z.int().min(1).max(triedMax).default(20),
    }),
    answer: LabelTrial,
    handler: async ({ id: projectId, body, account, reply }) => {
      requireVerified(account, "Judges can be called");
      const { connection: draft, testId, cursor, limit, estimate } = body;
      const typed =
        draft === undefined
          ? null
          : parseJudgeConnection(draft, await findJudgeConnection(db, vault, projectId));
      const connection = typed && { ...typed, timeoutMs: judgeTimeoutMs };
      return trials(account.id, async () => {
        const { items, last, ...trial } = await editor.tryLabels(
          { projectId, testId, connection, before: cursor, count: limit, estimate },
          untilClosed(reply),
        );
        return { ...pageOf(items, { limit }, last), ...trial };
      });
    },
  });
}
