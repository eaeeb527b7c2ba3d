// A sample trace for whoever has not integrated anything yet.
import { z } from "zod";
import { type IngestDeps, ingestSample } from "../ingest.ts";
import { Refusal } from "../model/refusal.ts";
import type { App, Deps } from "./deps.ts";
import { requireAccount } from "./session.ts";
import { Id } from "./validate.ts";

export function registerSampleTrace(app: App, { ingest }: Deps & { ingest: IngestDeps }): void {
  app.post(
    "/api/agents/:id/sample-trace",
    {
      schema: {
        tags: ["traces"],
        summary: "Store a sample conversation, marked as such, as if the agent had sent it",
        params: z.object({ id: z.string() }),
        response: { 201: z.object({ traceId: Id, evaluation: z.enum(["scheduled", "none"]) }) },
      },
    },
    async (request, reply) => {
      if (!requireAccount(request).emailVerified) {
        throw new Refusal("EMAIL_NOT_VERIFIED", {
          message: "Traces are stored once your email address is verified.",
          hint: "Open the link in the verification mail first.",
        });
      }
      const { traceId, evaluation } = await ingestSample(ingest, request.params.id.toLowerCase());
      return reply.code(201).send({ traceId, evaluation });
    },
  );
}
