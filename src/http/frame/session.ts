// Authentication and ownership: every route under /api needs a session or an access token, and an id in its path must
// belong to the account.

import type { FastifyReply, FastifyRequest } from "fastify";
import { bearerOf } from "../../model/access-token.ts";
import type { Account } from "../../model/account.ts";
import { hashKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { admitAccessToken } from "../../store/accounts/access-tokens.ts";
import { isOwn, isOwnedNoun } from "../../store/accounts/ownership.ts";
import { requireQuota } from "../../store/accounts/quotas.ts";
import type { Release } from "../../threads/fair-semaphore.ts";
import { admitsTokens } from "./access.ts";
import { type App, type Deps, quotasOf } from "./deps.ts";
import { originFault } from "./origin.ts";
import { holdersOfAccount, placesOfAccounts, releaseOnClose, takePlace } from "./places.ts";
import { type LimitWrongKeys, limitWrongKeys } from "./wrong-keys.ts";

declare module "fastify" {
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

/** The account of the request's session, and the cookies to set if the session was extended. */
export type FindSession = (
  request: FastifyRequest,
  options?: { extend: boolean },
) => Promise<{ account: Account; cookies: string[] } | undefined>;

/** Browsers keep a cookie named `__Host-` only from this host itself, over https, and for all of its paths. */
export function cookiePrefixOf(baseUrl: string): string {
  return new URL(baseUrl).protocol === "https:" ? "__Host-svc" : "svc";
}

/**
 * Guards the routes that are added after this call, before their bodies are read. Handlers of `/api/<noun>/:id` need not
 * check the owner: ids of other accounts have already been answered with 404.
 */
export function registerSession(app: App, deps: Deps, findSession: FindSession): void {
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
    if (config.access === "open") return;
    if (token !== undefined) {
      request.account = await accountOfToken(deps, wrongKeys, request, token);
      request.isStillAuthenticated = async () =>
        (await admitAccessToken(deps.db, hashKey(token))) !== undefined;
    } else {
      const session = await findSession(request);
      if (!session) throw new Refusal("UNAUTHORIZED", { message: "Sign in first." });
      if (session.cookies.length > 0) reply.header("set-cookie", session.cookies);
      request.account = session.account;
      request.isStillAuthenticated = async () =>
        (await findSession(request, { extend: false })) !== undefined;
    }
    if (!config.waits) {
      const holders = holdersOfAccount(request.account);
      request.leavePlace = await takePlace(places, { holders, what: "requests", waitMs: placeWaitMs });
      releaseOnClose(reply, request.leavePlace);
    }
    await requireOwn(deps, request.account, url, request.params as { id?: string });
    // Before the body is read.
    const { creates } = config;
    if (creates) await requireQuota(deps.db, request.account, creates, quotasOf(deps.config)[creates]);
  });
}

/** Throws NOT_FOUND if the path has an id that is not the account's. */
async function requireOwn(
  { db }: Deps,
  account: Account,
  url: string,
  params: { id?: string },
): Promise<void> {
  const noun = nounOf(url);
  if (params.id === undefined || !isOwnedNoun(noun)) return;
  // PostgreSQL reads upper case, too, but handlers compare the id with those that it prints.
  params.id = params.id.toLowerCase();
  if (!(await isOwn(db, account.id, noun, params.id))) throw new Refusal("NOT_FOUND");
}

/** The account's place. A long download or event stream does not hold it: those have limits of their own. */
async function leavePlace(request: FastifyRequest): Promise<void> {
  request.leavePlace?.();
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
  const { access } = request.routeOptions.config;
  const { account, scope } = admitted;
  if (admitsTokens(access, scope)) return account;
  if (scope === "erasures") {
    throw new Refusal("FORBIDDEN", {
      message: "This access token can only erase data.",
      hint: "Create another token for reading data and runs under Settings, Access tokens.",
    });
  }
  throw new Refusal("FORBIDDEN", {
    message: "This access token can only read data and start or cancel runs.",
    hint: admitsTokens(access, "erasures")
      ? "Create a token for erasing data under Settings, Access tokens, or use the dashboard."
      : "Sign in to the dashboard instead.",
  });
}

function nounOf(url: string): string | undefined {
  return url.split("/")[2];
}
