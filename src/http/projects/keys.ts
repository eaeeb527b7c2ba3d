// /api/keys: API keys of a project. Shown in full once, then masked; revoking is permanent.

import { z } from "zod";
import { ifThen } from "../../model/if-then.ts";
import { hashKey, makeKey, maskKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import {
  deleteKey,
  findKey,
  insertKey,
  limitKey,
  listKeys,
  type Key as StoredKey,
} from "../../store/accounts/keys.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../page.ts";
import { Id, Name, pageSchema } from "../schemas.ts";
import { requireAccount } from "../signed-in.ts";
import { RequestsPerMinute } from "./rate-limit.ts";
import { CreatedKey, Key } from "./schemas.ts";

/** Lifetimes that a key or an access token may be created with. */
export const presetDays = [7, 30, 60, 90, 180, 365] as const;
const defaultDays = 90;

// Strict: a misspelled expiry must not fall back to the default.
const NewKey = z
  .strictObject({
    name: Name,
    access: z.enum(["full", "granular"]),
    agentIds: z.array(Id).max(1000).default([]),
    expiresInDays: z.literal([...presetDays]).optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
    neverExpires: z.boolean().optional(),
    requestsPerMinute: RequestsPerMinute.optional(),
  })
  .check(({ value, issues }) => {
    const refuse = (field: keyof typeof value, message: string) =>
      issues.push({ code: "custom", path: [field], message, input: value[field] });
    if (value.access === "granular" && value.agentIds.length === 0) {
      refuse("agentIds", "Granular Access needs at least one agent.");
    }
    if (value.access === "full" && value.agentIds.length > 0) {
      refuse("agentIds", "`agentIds` must be empty with Full Access.");
    }
    const given = (["expiresInDays", "expiresAt", "neverExpires"] as const).filter(field => value[field]);
    for (const field of given.slice(1)) refuse(field, `Cannot be combined with ${given[0]}.`);
  })
  .meta({
    ...ifThen(
      { properties: { access: { const: "granular" } } },
      { properties: { agentIds: { minItems: 1 } }, required: ["agentIds"] },
      { properties: { agentIds: { maxItems: 0 } } },
    ),
    dependentSchemas: {
      expiresInDays: { properties: { expiresAt: false, neverExpires: { const: false } } },
      expiresAt: { properties: { neverExpires: { const: false } } },
    },
  });

export function registerKeys(app: App, { db }: Deps): void {
  const tags = ["keys"];
  const params = z.object({ id: z.string() });

  app.get(
    "/api/projects/:id/keys",
    {
      schema: {
        tags,
        summary: "List keys",
        params,
        querystring: PageQuery,
        response: { 200: pageSchema(Key) },
      },
    },
    async ({ params, query }) => {
      const { items, nextCursor } = pageOf(await listKeys(db, params.id, listingOf(query)), query);
      return { items: items.map(listed), nextCursor };
    },
  );

  app.post(
    "/api/projects/:id/keys",
    {
      config: { creates: "keys" },
      schema: { tags, summary: "Create a key", params, body: NewKey, response: { 201: CreatedKey } },
    },
    async (request, reply) => {
      const { name, access, agentIds, requestsPerMinute = null, ...expiry } = request.body;
      const key = makeKey();
      const stored = await insertKey(db, {
        projectId: request.params.id,
        name,
        hash: hashKey(key),
        lastFour: key.slice(-4),
        access,
        agentIds,
        expiresAt: expiryOf(expiry, new Date()),
        requestsPerMinute,
        createdBy: requireAccount(request).id,
      });
      return reply.code(201).send({ ...listed(stored), key });
    },
  );

  app.get(
    "/api/keys/:id",
    { schema: { tags, summary: "Get a key", params, response: { 200: Key } } },
    async request => listed(found(await findKey(db, request.params.id))),
  );

  app.patch(
    "/api/keys/:id",
    {
      schema: {
        tags,
        summary: "Limit how many requests a minute a key may send",
        params,
        body: z.strictObject({ requestsPerMinute: RequestsPerMinute }),
        response: { 200: Key },
      },
    },
    async ({ params: { id }, body }) => listed(found(await limitKey(db, id, body.requestsPerMinute))),
  );

  app.delete(
    "/api/keys/:id",
    { schema: { tags, summary: "Revoke a key", params, response: { 204: z.undefined() } } },
    async (request, reply) => {
      await deleteKey(db, request.params.id);
      return reply.code(204).send();
    },
  );
}

type Expiry = {
  expiresInDays?: (typeof presetDays)[number] | undefined;
  expiresAt?: string | undefined;
  neverExpires?: boolean | undefined;
};

/** When a key created now expires; null: never. Throws VALIDATION_ERROR for a time outside the coming year. */
export function expiryOf(
  { expiresInDays = defaultDays, expiresAt, neverExpires }: Expiry,
  now: Date,
): Date | null {
  if (neverExpires) return null;
  if (expiresAt === undefined) return new Date(now.getTime() + expiresInDays * 86_400_000);
  const chosen = new Date(expiresAt);
  const latest = new Date(now);
  latest.setUTCFullYear(latest.getUTCFullYear() + 1);
  if (chosen > now && chosen <= latest) return chosen;
  throw new Refusal("VALIDATION_ERROR", {
    issues: [{ path: "expiresAt", message: "Must be in the future and at most one year ahead." }],
  });
}

function listed({ lastFour, ...key }: StoredKey): Key {
  return { ...key, masked: maskKey(lastFour) };
}
