// /api/keys: API keys of a project. Shown in full once, then masked; revoking is permanent.

import { z } from "zod";
import { ifThen } from "../../model/if-then.ts";
import { hashKey, makeKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { deleteKey, findKey, insertKey, limitKey, listKeys } from "../../store/accounts/keys.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Id, Name, pageSchema } from "../frame/schemas.ts";
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
  const route = routesOf(app, "keys");

  route("GET /api/projects/:id/keys", {
    access: "tokens",
    summary: "List keys",
    query: PageQuery,
    answer: pageSchema(Key),
    handler: async ({ id, query }) => pageOf(await listKeys(db, id, listingOf(query)), query),
  });

  route("POST /api/projects/:id/keys", {
    access: "session",
    creates: "keys",
    summary: "Create a key",
    body: NewKey,
    status: 201,
    answer: CreatedKey,
    handler: async ({ id, body, account }) => {
      const { name, access, agentIds, requestsPerMinute = null, ...expiry } = body;
      const key = makeKey();
      const stored = await insertKey(db, {
        projectId: id,
        name,
        hash: hashKey(key),
        lastFour: key.slice(-4),
        access,
        agentIds,
        expiresAt: expiryOf(expiry, new Date()),
        requestsPerMinute,
        createdBy: account.id,
      });
      return { ...stored, key };
    },
  });

  route("GET /api/keys/:id", {
    access: "tokens",
    summary: "Get a key",
    answer: Key,
    handler: async ({ id }) => found(await findKey(db, id)),
  });

  route("PATCH /api/keys/:id", {
    access: "session",
    summary: "Limit how many requests a minute a key may send",
    body: z.strictObject({ requestsPerMinute: RequestsPerMinute }),
    answer: Key,
    handler: async ({ id, body }) => found(await limitKey(db, id, body.requestsPerMinute)),
  });

  route("DELETE /api/keys/:id", {
    access: "session",
    summary: "Revoke a key",
    handler: ({ id }) => deleteKey(db, id),
  });
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
