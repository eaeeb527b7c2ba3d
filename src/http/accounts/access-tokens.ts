// /api/access-tokens: personal access tokens. Shown in full once, then masked; only a session can create them.

import { z } from "zod";
import { makeAccessToken, maskAccessToken, tokenScopes } from "../../model/access-token.ts";
import { hashKey } from "../../model/key.ts";
import {
  deleteAccessToken,
  insertAccessToken,
  listAccessTokens,
  type AccessToken as Stored,
} from "../../store/accounts/access-tokens.ts";
import type { App, Deps } from "../deps.ts";
import { listingOf, PageQuery, pageOf } from "../page.ts";
import { expiryOf, presetDays } from "../projects/keys.ts";
import { Name, pageSchema } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
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
  const tags = ["access tokens"];

  app.get(
    "/api/access-tokens",
    {
      schema: {
        tags,
        summary: "List the account's access tokens",
        querystring: PageQuery,
        response: { 200: pageSchema(AccessToken) },
      },
    },
    async request => {
      const { query } = request;
      const stored = await listAccessTokens(db, requireAccount(request).id, listingOf(query));
      const { items, nextCursor } = pageOf(stored, query);
      return { items: items.map(listed), nextCursor };
    },
  );

  app.post(
    "/api/access-tokens",
    {
      config: { creates: "tokens" },
      schema: {
        tags,
        summary: "Create an access token",
        body: NewAccessToken,
        response: { 201: CreatedAccessToken },
      },
    },
    async (request, reply) => {
      const { name, scope, ...expiry } = request.body;
      const token = makeAccessToken();
      const stored = await insertAccessToken(db, {
        accountId: requireAccount(request).id,
        name,
        scope,
        hash: hashKey(token),
        lastFour: token.slice(-4),
        expiresAt: expiryOf(expiry, new Date()),
      });
      return reply.code(201).send({ ...listed(stored), token });
    },
  );

  app.delete(
    "/api/access-tokens/:id",
    {
      schema: {
        tags,
        summary: "Revoke an access token",
        params: z.object({ id: z.string() }),
        response: { 204: z.undefined() },
      },
    },
    async (request, reply) => {
      await deleteAccessToken(db, request.params.id);
      return reply.code(204).send();
    },
  );
}

function listed({ lastFour, ...token }: Stored): AccessToken {
  return { ...token, masked: maskAccessToken(lastFour) };
}
