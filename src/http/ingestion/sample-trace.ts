// Stores a sample trace, for users who have not integrated an agent yet.

import { z } from "zod";
import { type IngestDeps, ingestSample } from "../../ingest.ts";
import type { App, Deps } from "../deps.ts";
import { Id } from "../schemas.ts";
import { requireVerified } from "../signed-in.ts";

export function registerSampleTrace(app: App, { ingest }: Deps & { ingest: IngestDeps }): void {
  app.post(
    "/api/agents/:id/sample-trace",
    {
      schema: {
        tags: ["traces"],
        summary: "Store a sample trace, as if the agent had sent it",
        params: z.object({ id: z.string() }),
        response: { 201: z.object({ traceId: Id, evaluation: z.enum(["scheduled", "none"]) }) },
      },
    },
    async (request, reply) => {
      requireVerified(request, "Traces can be stored");
      const { traceId, evaluation } = await ingestSample(ingest, request.params.id.toLowerCase());
      return reply.code(201).send({ traceId, evaluation });
    },
  );
}
