// Authentication and ownership: every route under /api needs a session or an access token, and an id in its path must
// belong to the account.

import type { FastifyReply, FastifyRequest } from "fastify";
import { bearerOf, type TokenScope } from "../model/access-token.ts";
import type { Account } from "../model/account.ts";
import { hashKey } from "../model/key.ts";
import type { QuotaNoun } from "../model/quotas.ts";
import { Refusal } from "../model/refusal.ts";
import { admitAccessToken } from "../store/accounts/access-tokens.ts";
import { isOwn, isOwnedNoun } from "../store/accounts/ownership.ts";
import { requireQuota } from "../store/accounts/quotas.ts";
import type { Release } from "../threads/fair-semaphore.ts";
import { type Auth, findSession } from "./accounts/auth.ts";
import { type App, type Deps, quotasOf } from "./deps.ts";
import { originFault } from "./origin.ts";
import { holdersOfAccount, placesOfAccounts, releaseOnClose, takePlace } from "./places.ts";
import { requireAccount } from "./signed-in.ts";
import { type LimitWrongKeys, limitWrongKeys } from "./wrong-keys.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** A route under /api that needs no session. */
    open?: boolean;
    /** A route that waits for a judge or an agent, with a limit of its own on such calls. */
    waits?: boolean;
    /** Access tokens may call this route even if it is not a GET. */
    tokens?: boolean;
    /** What it creates one of: an account may have so many. */
    creates?: QuotaNoun;
    /** Access tokens that are made for erasing may call this route. */
    erasureTokens?: boolean;
  }
  interface FastifyRequest {
    account: Account | null;
    leavePlace: Release | null;
    /** Whether the session or token of the request is still valid. Throws the database's errors. */
    isStillAuthenticated: () => Promise<boolean>;
  }
}

/** Requests of all accounts that one process works on: few more than it has connections to the database. */
export const requestsMax = 32;
const placeWaitMs = 5_000;

/**
 * Guards the routes that are added after this call, before their bodies are read. Handlers of `/api/<noun>/:id` need not
 * check the owner: ids of other accounts have already been answered with 404.
 */
export function registerSession(app: App, deps: Deps, auth: Auth): void {
  const places = placesOfAccounts(deps.machine?.apiRequestsMax ?? requestsMax);
  const wrongKeys = limitWrongKeys(deps);
  app.decorateRequest("account", null);
  app.decorateRequest("leavePlace", null);
  app.decorateRequest("isStillAuthenticated", async () => false);

  app.addHook("onRoute", ({ url }) => {
    if (url.startsWith("/api/") && url.includes("/:id") && !isOwnedNoun(nounOf(url))) {
      throw new Error(`No ownership check for ${url}: add its noun to store/accounts/ownership.ts.`);
    }
  });

  app.addHook("onSend", leavePlace);
  app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
    const { url, config } = request.routeOptions;
    if (!url?.startsWith("/api/")) return;
    const token = bearerOf(request.headers.authorization);
    // Unlike a cookie, a token is never sent by a browser on behalf of another site.
    const fault = token === undefined ? originFault(request, deps.config.baseUrl) : undefined;
    if (fault) throw fault;
    if (config.open) return;
    if (token !== undefined) {
      request.account = await accountOfToken(deps, wrongKeys, request, token);
      request.isStillAuthenticated = async () =>
        (await admitAccessToken(deps.db, hashKey(token))) !== undefined;
    } else {
      const session = await findSession(auth, request);
      if (!session) throw new Refusal("UNAUTHORIZED", { message: "Sign in first." });
      if (session.cookies.length > 0) reply.header("set-cookie", session.cookies);
      request.account = session.account;
      request.isStillAuthenticated = async () =>
        (await findSession(auth, request, { extend: false })) !== undefined;
    }
    if (!config.waits) {
      const holders = holdersOfAccount(request.account);
      request.leavePlace = await takePlace(places, { holders, what: "requests", waitMs: placeWaitMs });
      releaseOnClose(reply, request.leavePlace);
    }
    await requireOwn(deps, request, url);
    // Before the body is read.
    const { creates } = config;
    if (creates) await requireQuota(deps.db, request.account, creates, quotasOf(deps.config)[creates]);
  });
}

/** Throws NOT_FOUND if the path has an id that is not the account's. */
async function requireOwn({ db }: Deps, request: FastifyRequest, url: string): Promise<void> {
  const params = request.params as { id?: string };
  const noun = nounOf(url);
  if (params.id === undefined || !isOwnedNoun(noun)) return;
  // PostgreSQL reads upper case, too, but handlers compare the id with those that it prints.
  params.id = params.id.toLowerCase();
  if (!(await isOwn(db, requireAccount(request).id, noun, params.id))) throw new Refusal("NOT_FOUND");
}

/** The account's place. A long download or event stream does not hold it: those have limits of their own. */
async function leavePlace(request: FastifyRequest): Promise<void> {
  request.leavePlace?.();
}

// Routes about credentials of the user, which access tokens may not even read.
const closedToTokens = new Set(["auth", "verification", "access-tokens"]);

/** Whether access tokens may call this route. */
export function admitsTokens(
  route: {
    method: string | string[];
    url: string;
    config?: { tokens?: boolean; erasureTokens?: boolean } | undefined;
  },
  scope: TokenScope,
): boolean {
  if (scope === "erasures") return route.config?.erasureTokens === true;
  const reads = [route.method].flat().every(method => method === "GET" || method === "HEAD");
  return !closedToTokens.has(nounOf(route.url) ?? "") && (reads || route.config?.tokens === true);
}

/** Not cached, so that every process rejects a revoked token immediately. */
async function accountOfToken(
  { db }: Deps,
  wrongKeys: LimitWrongKeys,
  request: FastifyRequest,
  token: string,
): Promise<Account> {
  const admitted = await admitAccessToken(db, hashKey(token));
  if (!admitted) {
    const refusal = new Refusal("UNAUTHORIZED", {
      message: "This access token is unknown, revoked or expired.",
      hint: "Create one under Settings, Access tokens, and send it as Authorization: Bearer …",
    });
    throw await wrongKeys(request.clientIp, refusal);
  }
  const { url = "", config } = request.routeOptions;
  const { account, scope } = admitted;
  if (admitsTokens({ method: request.method, url, config }, scope)) return account;
  if (scope === "erasures") {
    throw new Refusal("FORBIDDEN", {
      message: "This access token can only erase data.",
      hint: "Create another token for reading data and runs under Settings, Access tokens.",
    });
  }
  throw new Refusal("FORBIDDEN", {
    message: "This access token can only read data and start or cancel runs.",
    hint: config.erasureTokens
      ? "Create a token for erasing data under Settings, Access tokens, or use the dashboard."
      : "Sign in to the dashboard instead.",
  });
}

function nounOf(url: string): string | undefined {
  return url.split("/")[2];
}
