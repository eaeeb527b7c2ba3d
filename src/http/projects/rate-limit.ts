// How many requests a minute the keys of a project may send together.
import { z } from "zod";
import { requestsPerMinuteMax } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { findRateLimit, saveRateLimit } from "../../store/accounts/projects.ts";
import type { App, Deps } from "../deps.ts";
import { RateLimit } from "./schemas.ts";

const params = z.object({ id: z.string() });
const tags = ["projects"];

/** Of a key or a project. */
export const RequestsPerMinute = z
  .int()
  .min(1)
  .max(requestsPerMinuteMax)
  .nullable()
  .describe("More requests to /public/traces and /public/logs are 429; null: no limit.");

export function registerRateLimit(app: App, { db }: Deps): void {
  app.get(
    "/api/projects/:id/rate-limit",
    {
      schema: {
        tags,
        params,
        summary: "Get how many requests a minute a project may send",
        response: { 200: RateLimit },
      },
    },
    async ({ params: { id } }) => {
      const requestsPerMinute = await findRateLimit(db, id);
      if (requestsPerMinute === undefined) throw new Refusal("NOT_FOUND");
      return { requestsPerMinute };
    },
  );

  app.put(
    "/api/projects/:id/rate-limit",
    {
      schema: {
        tags,
        params,
        summary: "Set how many requests a minute a project may send",
        body: z.strictObject({ requestsPerMinute: RequestsPerMinute }),
        response: { 200: RateLimit },
      },
    },
    async ({ params: { id }, body: { requestsPerMinute } }) => {
      if (!(await saveRateLimit(db, id, requestsPerMinute))) throw new Refusal("NOT_FOUND");
      return { requestsPerMinute };
    },
  );
}
