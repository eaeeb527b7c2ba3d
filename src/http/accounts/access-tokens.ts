// /api/access-tokens: personal access tokens. Shown in full once, then masked; only a session can create them.

import { z } from "zod";
import { makeAccessToken, tokenScopes } from "../../model/access-token.ts";
import { hashKey } from "../../model/key.ts";
import {
  deleteAccessToken,
  insertAccessToken,
  listAccessTokens,
} from "../../store/accounts/access-tokens.ts";
import type { App, Deps } from "../frame/deps.ts";
import { listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Name, pageSchema } from "../frame/schemas.ts";
import { expiryOf, presetDays } from "../projects/keys.ts";
import { AccessToken, CreatedAccessToken } from "./schemas.ts";

// Strict, as with keys: a misspelled expiry must not fall back to the default.
const NewAccessToken = z
  .strictObject({
    name: Name,
    scope: z
      .enum(tokenScopes)
      .default("runs")
      .describe(
        "runs: reads everything, and starts and cancels runs. erasures: erases data, and nothing else.",
      ),
    expiresInDays: z.literal([...presetDays]).optional(),
    neverExpires: z.boolean().optional(),
  })
  .check(({ value, issues }) => {
    if (!value.expiresInDays || !value.neverExpires) return;
    const message = "Cannot be combined with expiresInDays.";
    issues.push({ code: "custom", path: ["neverExpires"], message, input: value.neverExpires });
  })
  .meta({ dependentSchemas: { expiresInDays: { properties: { neverExpires: { const: false } } } } });

export function registerAccessTokens(app: App, { db }: Deps): void {
  const route = routesOf(app, "access tokens");

  route("GET /api/access-tokens", {
    access: "session",
    summary: "List the account's access tokens",
    query: PageQuery,
    answer: pageSchema(AccessToken),
    handler: async ({ query, account }) =>
      pageOf(await listAccessTokens(db, account.id, listingOf(query)), query),
  });

  route("POST /api/access-tokens", {
    access: "session",
    creates: "tokens",
    summary: "Create an access token",
    body: NewAccessToken,
    status: 201,
    answer: CreatedAccessToken,
    handler: async ({ body, account }) => {
      const { name, scope, ...expiry } = body;
      const token = makeAccessToken();
      const stored = await insertAccessToken(db, {
        accountId: account.id,
        name,
        scope,
        hash: hashKey(token),
        lastFour: token.slice(-4),
        expiresAt: expiryOf(expiry, new Date()),
      });
      return { ...stored, token };
    },
  });

  route("DELETE /api/access-tokens/:id", {
    access: "session",
    summary: "Revoke an access token",
    handler: ({ id }) => deleteAccessToken(db, id),
  });
}
