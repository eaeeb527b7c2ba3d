// Reads the bodies of the API, only JSON in UTF-8: what each kind of route accepts, what is parsed on a thread, and at what rate.
import type { FastifyRequest } from "fastify";
import type { Account } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";
import { tellOfWork } from "../../model/work.ts";
import { countAttempt } from "../../store/accounts/attempts.ts";
import { countBytes, requireBytes } from "../../store/accounts/use.ts";
import { checkingOf } from "./checking.ts";
import { type App, type Deps, quotasOf } from "./deps.ts";
import { inlineElements, isLarge, parseJson } from "./parse-json.ts";

/** Of a route that needs no session, in bytes; none of them reads more than an email, a password and a name. */
export const openBytesMax = 8_192;
export const sessionBytesMax = 1_048_576;
export const largePerMinute = 60;

declare module "fastify" {
  interface FastifyRequest {
    /** Its body has been read and is valid, so far as the route's schemas tell. */
    isReadable: boolean;
    isCountedAsLarge: boolean;
  }
}

/**
 * Makes JSON the only accepted media type, and gives every route that is added after this call the limit of its kind. An
 * empty body counts as absent.
 */
export function readBodies(app: App, deps: Pick<Deps, "config" | "db">): void {
  const check = checkingOf(app);
  app.decorateRequest("isReadable", false);
  app.decorateRequest("isCountedAsLarge", false);
  app.addHook("onRoute", route => {
    const isOpen = !route.url.startsWith("/api/") || route.config?.access === "open";
    if (isOpen && (route.bodyLimit ?? 0) > openBytesMax) {
      throw new Error(`${route.url} needs no session: its bodies may have ${openBytesMax} bytes.`);
    }
    route.bodyLimit ??= isOpen ? openBytesMax : sessionBytesMax;
  });
  // Counted before the body is read, where its length is known.
  app.addHook("preParsing", async request => {
    if (isLarge(Number(request.headers["content-length"] ?? 0))) await countLarge(deps, request);
  });
  app.addHook("preHandler", async request => {
    request.isReadable = true;
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => {
      if (bytes.length === 0) return undefined;
      const elements = inlineElements(bytes);
      if (elements === null) {
        const { id } = await countLarge(deps, request);
        await countBytes(deps.db, new Map([[id, bytes.length]]));
        return check("body", id, bytes);
      }
      tellOfWork("body", { bytes: bytes.length, elements });
      return parseJson(bytes);
    },
  );
}

/** Throws RATE_LIMITED, and PAYLOAD_TOO_LARGE until the account's email is verified. */
async function countLarge(
  { db, config }: Pick<Deps, "config" | "db">,
  request: FastifyRequest,
): Promise<Account> {
  const { account } = request;
  if (!account?.emailVerified) {
    throw new Refusal("PAYLOAD_TOO_LARGE", {
      message: "The body is larger, or contains more values, than this endpoint accepts from you.",
      ...(account && { hint: "Larger bodies are accepted once your email is verified." }),
    });
  }
  if (request.isCountedAsLarge) return account;
  request.isCountedAsLarge = true;
  await requireBytes(db, account.id, quotasOf(config).bytesPerDay);
  const subject = [account.id];
  const { count, endsInSeconds } = await countAttempt(db, {
    kind: "large bodies",
    subject,
    windowSeconds: 60,
  });
  if (count <= largePerMinute) return account;
  throw new Refusal("RATE_LIMITED", {
    message: `Limit: ${largePerMinute} large requests per minute.`,
    hint: `Try again in ${endsInSeconds} s.`,
    retryAfterSeconds: endsInSeconds,
  });
}
