// API keys of a project: shown in full once, listed masked, revoked for good (G3).
import { z } from "zod";
import { hashKey, makeKey, maskKey } from "../../model/key.ts";
import { Refusal } from "../../model/refusal.ts";
import { deleteKey, findKey, insertKey, listKeys, type Key as StoredKey } from "../../store/accounts/keys.ts";
import type { App, Deps } from "../deps.ts";
import { found, listingOf, PageQuery, pageOf, pageSchema } from "../page.ts";
import { requireAccount } from "../session.ts";
import { Id, Name } from "../validate.ts";

/** How long a key, or an access token, may be good for, in days. */
export const presetDays = [7, 30, 60, 90, 180, 365] as const;
const defaultDays = 90;

const Key = z
  .object({
    id: Id,
    name: z.string(),
    masked: z.string(),
    access: z.enum(["full", "granular"]),
    agentIds: z.array(Id),
    expiresAt: z.iso.datetime().nullable(),
    lastUsedAt: z.iso.datetime().nullable(),
    createdAt: z.iso.datetime(),
    createdBy: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .describe("The account that made it; null where that was not recorded, or the account is gone."),
    status: z.enum(["active", "expired"]),
  })
  .meta({ id: "Key" });

const CreatedKey = Key.extend({ key: z.string().describe("The whole key, shown this once.") }).meta({
  id: "CreatedKey",
});

// Strict, unlike other bodies: a misspelt expiry must not pass for the default.
const NewKey = z
  .strictObject({
    name: Name,
    access: z.enum(["full", "granular"]),
    agentIds: z.array(Id).max(1000).default([]),
    expiresInDays: z.literal([...presetDays]).optional(),
    expiresAt: z.iso.datetime({ offset: true }).optional(),
    neverExpires: z.boolean().optional(),
  })
  .check(({ value, issues }) => {
    const refuse = (field: keyof typeof value, message: string) =>
      issues.push({ code: "custom", path: [field], message, input: value[field] });
    if (value.access === "granular" && value.agentIds.length === 0) {
      refuse("agentIds", "Granular access names at least one agent.");
    }
    if (value.access === "full" && value.agentIds.length > 0) {
      refuse("agentIds", "Full access is for every agent: name none.");
    }
    const given = (["expiresInDays", "expiresAt", "neverExpires"] as const).filter(field => value[field]);
    for (const field of given.slice(1)) refuse(field, `Contradicts ${given[0]}: give one of them.`);
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
    { schema: { tags, summary: "Make a key", params, body: NewKey, response: { 201: CreatedKey } } },
    async (request, reply) => {
      const { name, access, agentIds, ...expiry } = request.body;
      const key = makeKey();
      const stored = await insertKey(db, {
        projectId: request.params.id,
        name,
        hash: hashKey(key),
        lastFour: key.slice(-4),
        access,
        agentIds,
        expiresAt: expiryOf(expiry, new Date()),
        createdBy: requireAccount(request).id,
      });
      return reply.code(201).send({ ...listed(stored), key });
    },
  );

  app.get(
    "/api/keys/:id",
    { schema: { tags, summary: "One key", params, response: { 200: Key } } },
    async request => listed(found(await findKey(db, request.params.id))),
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

/** When a key made now expires; null is never. Throws VALIDATION_ERROR for an instant outside the coming year. */
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

function listed({ lastFour, ...key }: StoredKey): z.output<typeof Key> {
  return { ...key, masked: maskKey(lastFour) };
}
