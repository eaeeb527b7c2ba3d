// Stores a sample trace, for users who have not integrated an agent yet.

import { z } from "zod";
import { type IngestDeps, ingestSample } from "../../ingest.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { Id } from "../frame/schemas.ts";
import { requireVerified } from "../frame/signed-in.ts";

export function registerSampleTrace(app: App, { ingest }: Deps & { ingest: IngestDeps }): void {
  const route = routesOf(app, "traces");
  route("POST /api/agents/:id/sample-trace", {
    access: "session",
    summary: "Store a sample trace, as if the agent had sent it",
    status: 201,
    answer: z.object({ traceId: Id, evaluation: z.enum(["scheduled", "none"]) }),
    handler: async ({ id, account }) => {
      requireVerified(account, "Traces can be stored");
      const { traceId, evaluation } = await ingestSample(ingest, id.toLowerCase());
      return { traceId, evaluation };
    },
  });
}
