// Rate limits of keys and projects, for all processes together: off unless somebody sets them.
import type { FastifyReply } from "fastify";
import type { AdmittedKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { gatherAttempts } from "../../store/accounts/attempts.ts";
import type { Database } from "../../store/db.ts";

const windowSeconds = 60;

type Limit = { what: "key" | "project"; id: string; max: number };
type Left = Limit & { left: number; endsInSeconds: number };

/**
 * Counts a request, and describes its limits in the headers of the reply. Throws RATE_LIMITED if it exceeds one. Asks
 * the database only for keys and projects that have a limit.
 */
export type LimitKeys = (key: AdmittedKey, reply: FastifyReply) => Promise<void>;

export function limitKeys(db: Database): LimitKeys {
  const count = gatherAttempts(db, { kind: "ingestion requests", windowSeconds });

  return async (key, reply) => {
    const limits = limitsOf(key);
    if (limits.length === 0) return;
    const lefts = await Promise.all(
      limits.map(async (limit): Promise<Left> => {
        const { count: sent, endsInSeconds } = await count(`${limit.what} ${limit.id}`);
        return { ...limit, left: limit.max - sent, endsInSeconds };
      }),
      // Without the count, the request goes on: storing it needs the same database.
    ).catch((): Left[] => []);
    if (lefts.length === 0) return;
    reply.header(
      "ratelimit-policy",
      lefts.map(({ what, max }) => `"${what}";q=${max};w=${windowSeconds}`).join(", "),
    );
    reply.header(
      "ratelimit",
      lefts
        .map(({ what, left, endsInSeconds }) => `"${what}";r=${Math.max(0, left)};t=${endsInSeconds}`)
        .join(", "),
    );
    const exceeded = lefts.filter(({ left }) => left < 0);
    if (exceeded.length === 0) return;
    const { what, max, endsInSeconds } = exceeded.reduce((a, b) =>
      b.endsInSeconds > a.endsInSeconds ? b : a,
    );
    throw new Refusal("RATE_LIMITED", {
      message: `Limit of this ${what}: ${max} requests per minute.`,
      hint: `Retry in ${endsInSeconds} s, or raise the limit in the dashboard, under ${places[what]}.`,
      retryAfterSeconds: endsInSeconds,
    });
  };
}

const places = { key: "API keys", project: "the project's settings" };

function limitsOf({ id, projectId, rateLimits }: AdmittedKey): Limit[] {
  const { key, project } = rateLimits;
  return [
    ...(key === null ? [] : [{ what: "key" as const, id, max: key }]),
    ...(project === null ? [] : [{ what: "project" as const, id: projectId, max: project }]),
  ];
}
