// Logs requests that are answered 503: one line without a stack, and during an outage once a minute for each route and error.
import type { FastifyRequest } from "fastify";
import { errorText } from "../../log/error-text.ts";
import { leftOutBefore } from "../../log/repeats.ts";
import type { Refusal } from "../../model/refusal.ts";
import { isTransient } from "../../store/db.ts";

/**
 * Whether the service, its database or a worker of a cluster was unavailable, and not what a bug broke. A thread sends the text of a
 * cause alone: it refuses with UNAVAILABLE only for an outage.
 */
export function isOutage({ code, cause }: Refusal): boolean {
  return code === "UNAVAILABLE" && (cause === undefined || typeof cause === "string" || isTransient(cause));
}

/** A warning, with how many were left out before (`more`); these are logged at the level debug. */
export function logOutage(request: FastifyRequest, refusal: Refusal, message: string): void {
  const reason = refusal.cause === undefined ? refusal.message : errorText(refusal.cause);
  const kind = `${request.method} ${request.routeOptions.url} ${reason}`;
  const more = leftOutBefore(request.server.server, kind);
  const line = {
    ...(reason !== message && { err: reason }),
    ...{ req: request, code: refusal.code },
    ...(more && { more }),
  };
  request.log[more === undefined ? "debug" : "warn"](line, message);
}
