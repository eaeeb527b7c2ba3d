// From any error to what the client is told: the one mapper of the HTTP rooms.
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Issue, Refusal } from "../model/refusal.ts";
import { asUnavailable, isCommitFault, violatedConstraint } from "../store/db.ts";

const issuesMax = 20;

/** The body of every error reply. */
export type RefusalBody = {
  code: string;
  message: string;
  hint?: string;
  issues?: Issue[];
  requestId: string;
};

/** Answers with the refusal that `error` amounts to; what is none of the client's business is logged, not told. */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = asRefusal(error);
  if (refusal.status >= 500) {
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

/** The refusal that an error amounts to: itself, the framework's objections translated, else INTERNAL. */
export function asRefusal(error: unknown): Refusal {
  if (isCommitFault(error)) {
    return new Refusal("UNAVAILABLE", {
      message: "The database connection was lost; this may or may not have been saved.",
      hint: "Check before you retry.",
      cause: error,
    });
  }
  const known = asUnavailable(error);
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
  // An address that cannot be decoded, or an id far too long, names nothing.
  if (code === "FST_ERR_BAD_URL" || code === "FST_ERR_MAX_PARAM_LENGTH") return new Refusal("NOT_FOUND");
  // What the row was to belong to was deleted a moment ago.
  if (violatedConstraint(error)?.endsWith("_fkey")) return new Refusal("NOT_FOUND");
  if (statusCode === 400) {
    return new Refusal("VALIDATION_ERROR", { message: "The request cannot be read.", cause: error });
  }
  return new Refusal("INTERNAL", { cause: error });
}
