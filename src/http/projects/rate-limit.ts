// How many requests a minute the keys of a project may send together.
import { z } from "zod";
import { requestsPerMinuteMax } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { findRateLimit, saveRateLimit } from "../../store/accounts/projects.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { RateLimit } from "./schemas.ts";

/** Of a key or a project. */
export const RequestsPerMinute = z
  .int()
  .min(1)
  .max(requestsPerMinuteMax)
  .nullable()
  .describe("More requests to /public/traces and /public/logs are 429; null: no limit.");

export function registerRateLimit(app: App, { db }: Deps): void {
  const route = routesOf(app, "projects");
  route("GET /api/projects/:id/rate-limit", {
    access: "tokens",
    summary: "Get how many requests a minute a project may send",
    answer: RateLimit,
    handler: async ({ id }) => ({ requestsPerMinute: found(await findRateLimit(db, id)) }),
  });

  route("PUT /api/projects/:id/rate-limit", {
    access: "session",
    summary: "Set how many requests a minute a project may send",
    body: z.strictObject({ requestsPerMinute: RequestsPerMinute }),
    answer: RateLimit,
    handler: async ({ id, body: { requestsPerMinute } }) => {
      if (!(await saveRateLimit(db, id, requestsPerMinute))) throw new Refusal("NOT_FOUND");
      return { requestsPerMinute };
    },
  });
}
