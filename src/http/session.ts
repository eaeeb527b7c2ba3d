// Who is asking: every address under /api needs a session or an access token, and an id in it must be the asker's own.
import type { FastifyReply, FastifyRequest } from "fastify";
import { bearerOf } from "../model/access-token.ts";
import type { Account } from "../model/account.ts";
import { hashKey } from "../model/key.ts";
import { Refusal } from "../model/refusal.ts";
import { admitAccessToken } from "../store/accounts/access-tokens.ts";
import { isOwn, isOwnedNoun } from "../store/accounts/ownership.ts";
import { type Auth, findSession } from "./accounts/auth.ts";
import type { App, Deps } from "./deps.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** An address under /api that needs no session. */
    open?: boolean;
    /** An access token may change something here; without this it only reads. */
    tokens?: boolean;
  }
  interface FastifyRequest {
    account: Account | null;
    /** Whether what let it in would let it in again. Throws what the database threw. */
    isStillIn: () => Promise<boolean>;
  }
}

/**
 * Guards the routes that are added from now on, before their bodies are read. `/api/<noun>/:id` needs no look at
 * the owner in its handler: what is not the account's own has been answered with 404.
 */
export function registerSession(app: App, deps: Deps, auth: Auth): void {
  app.decorateRequest("account", null);
  app.decorateRequest("isStillIn", async () => false);

  app.addHook("onRoute", ({ url }) => {
    if (url.startsWith("/api/") && url.includes("/:id") && !isOwnedNoun(nounOf(url))) {
      throw new Error(`Nobody knows whose ${url} is: add it to store/accounts/ownership.ts.`);
    }
  });

  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const { url, config } = request.routeOptions;
    if (!url?.startsWith("/api/")) return;
    const token = bearerOf(request.headers.authorization);
    // A token is no cookie: no page of another site can make a browser send it.
    const foreign = token === undefined && isForeign(request, deps.config.baseUrl);
    if (config.open && !foreign) return;
    if (token !== undefined) {
      request.account = await accountOfToken(deps, request, token);
      request.isStillIn = async () => (await admitAccessToken(deps.db, hashKey(token))) !== undefined;
    } else {
      const session = foreign ? undefined : await findSession(auth, request);
      if (!session) throw new Refusal("UNAUTHORIZED", { message: "Sign in first." });
      if (session.cookies.length > 0) reply.header("set-cookie", session.cookies);
      request.account = session.account;
      request.isStillIn = async () => (await findSession(auth, request, { extend: false })) !== undefined;
    }
    const { id } = request.params as { id?: string };
    const noun = nounOf(url);
    if (id === undefined || !isOwnedNoun(noun)) return;
    if (!(await isOwn(deps.db, request.account.id, noun, id))) throw new Refusal("NOT_FOUND");
  });
}

/** The account that is signed in. Throws UNAUTHORIZED where there is none. */
export function requireAccount(request: FastifyRequest): Account {
  if (request.account) return request.account;
  throw new Refusal("UNAUTHORIZED", { message: "Sign in first." });
}

/** The same, of a verified address. Throws EMAIL_NOT_VERIFIED; `what` waits for that, as in "Agents are called". */
export function requireVerified(request: FastifyRequest, what: string): Account {
  const account = requireAccount(request);
  if (account.emailVerified) return account;
  throw new Refusal("EMAIL_NOT_VERIFIED", {
    message: `${what} once your email is verified.`,
    hint: "Open the link in the verification email first.",
  });
}

// What belongs to whoever signs in, and tells of sessions and tokens: not even read with a token.
const closedToTokens = new Set(["auth", "verification", "access-tokens"]);

/** Whether whoever sends an access token may do this. */
export function admitsTokens(route: {
  method: string | string[];
  url: string;
  config?: { tokens?: boolean } | undefined;
}): boolean {
  const reads = [route.method].flat().every(method => method === "GET" || method === "HEAD");
  return !closedToTokens.has(nounOf(route.url) ?? "") && (reads || route.config?.tokens === true);
}

/** Looked up for every request: a token that was revoked is refused by every process at once. */
async function accountOfToken({ db }: Deps, request: FastifyRequest, token: string): Promise<Account> {
  const account = await admitAccessToken(db, hashKey(token));
  if (!account) {
    throw new Refusal("UNAUTHORIZED", {
      message: "This access token is unknown, revoked or expired.",
      hint: "Create one under Settings, Access tokens, and send it as Authorization: Bearer …",
    });
  }
  const { url = "", config } = request.routeOptions;
  if (!admitsTokens({ method: request.method, url, config })) {
    throw new Refusal("FORBIDDEN", {
      message: "Access tokens can only read data and start or cancel runs.",
      hint: "Sign in to the dashboard instead.",
    });
  }
  return account;
}

function nounOf(url: string): string | undefined {
  return url.split("/")[2];
}

/**
 * Whether a page of another site makes the browser ask for a change: such a request counts as having no session.
 * Browsers name the page's origin; other clients, which name none, carry no cookie they were not meant to.
 */
function isForeign(request: FastifyRequest, baseUrl: string): boolean {
  if (request.method === "GET" || request.method === "HEAD") return false;
  const { origin, host } = request.headers;
  if (request.headers["sec-fetch-site"] === "cross-site") return true;
  if (origin === undefined || origin === new URL(baseUrl).origin) return false;
  // The same service under another of its names, such as 127.0.0.1 for localhost: a page cannot forge either header.
  return URL.parse(origin)?.host !== host;
}
