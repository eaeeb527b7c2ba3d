// The error handler of the HTTP API: maps every error to a Refusal and sends it.
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Issue, Refusal } from "../../model/refusal.ts";
import { asUnavailable, asUnreadable, isCommitFault, violatedConstraint } from "../../store/db.ts";
import { isOutage, logOutage } from "./outage-log.ts";

const issuesMax = 20;

/** The body of every error reply. */
export type RefusalBody = {
  code: string;
  message: string;
  hint?: string;
  issues?: Issue[];
  requestId: string;
};

/** Sends the Refusal for `error`. Errors of the service are logged and sent without details; an outage is a warning. */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal =
    error === request.raw.errored ? disconnected(request.raw) : asRefusal(error, request.method);
  if (isOutage(refusal)) logOutage(request, refusal, "request failed");
  else if (refusal.status >= 500) {
    request.log.error({ err: refusal.cause ?? refusal, req: request, code: refusal.code }, "request failed");
  }
  if (refusal.retryAfterSeconds !== undefined) reply.header("retry-after", refusal.retryAfterSeconds);
  return reply
    .code(refusal.status)
    .type("application/json; charset=utf-8")
    .serializer(JSON.stringify)
    .send(refusalBody(refusal, request.id));
}

export function refusalBody(refusal: Refusal, requestId: string): RefusalBody {
  return {
    code: refusal.code,
    message: refusal.message,
    ...(refusal.hint !== undefined && { hint: refusal.hint }),
    ...(refusal.issues !== undefined && { issues: refusal.issues.slice(0, issuesMax) }),
    requestId,
  };
}

const timeouts = new WeakMap<IncomingMessage, Refusal>();

/** Remembers that the request took too long to arrive, and was answered with `refusal` before its connection ends. */
export function markTimedOut(request: IncomingMessage, refusal: Refusal): void {
  timeouts.set(request, refusal);
}

/**
 * The answer to a client whose connection ends while it sends. Nobody reads it: it keeps the request out of the log of
 * errors. The request is counted by its code, so after a timeout it is the refusal that was sent.
 */
export function disconnected(request?: IncomingMessage): Refusal {
  const timeout = request && timeouts.get(request);
  return timeout ?? new Refusal("VALIDATION_ERROR", { message: "The connection ended before the body did." });
}

/** The Refusal for an error of a request: itself, a mapped framework or database error, else INTERNAL. */
export function asRefusal(error: unknown, method: string): Refusal {
  if (isCommitFault(error)) {
    return new Refusal("UNAVAILABLE", {
      message: "The database connection was lost; this may or may not have been saved.",
      hint: "Check before you retry.",
      cause: error,
    });
  }
  const known = method === "GET" || method === "HEAD" ? asUnreadable(error) : asUnavailable(error);
  if (known instanceof Refusal) return known;
  const { code = "", statusCode } = error as { code?: string; statusCode?: number };
  if (code === "FST_ERR_CTP_INVALID_MEDIA_TYPE") {
    return new Refusal("UNSUPPORTED_MEDIA_TYPE", {
      message: "This Content-Type is not accepted here.",
      hint: "Send JSON, with Content-Type: application/json.",
    });
  }
  if (code === "FST_ERR_CTP_BODY_TOO_LARGE") {
    return new Refusal("PAYLOAD_TOO_LARGE", { message: "The body is larger than this endpoint accepts." });
  }
  // A path that cannot be decoded, or with a parameter that is too long, identifies nothing.
  if (code === "FST_ERR_BAD_URL" || code === "FST_ERR_MAX_PARAM_LENGTH") return new Refusal("NOT_FOUND");
  // The parent row was deleted in the meantime.
  if (violatedConstraint(error)?.endsWith("_fkey")) return new Refusal("NOT_FOUND");
  if (statusCode === 400) {
    return new Refusal("VALIDATION_ERROR", { message: "The request cannot be read.", cause: error });
  }
  return new Refusal("INTERNAL", { cause: error });
}
