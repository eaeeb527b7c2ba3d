// Creating, limiting and revoking API keys and access tokens.
import type { CreatedAccessToken } from "../../src/http/accounts/schemas.ts";
import type { CreatedKey, Key } from "../../src/http/projects/schemas.ts";
import type { TokenScope } from "../../src/model/access-token.ts";
import type { KeyAccess } from "../../src/model/key.ts";
import { type Answer, ask, remove } from "../api.ts";

/** Of a key or a token: its lifetime; absent: the default of 90 days. */
export type NewExpiry = { expiresInDays?: number; expiresAt?: string; neverExpires?: boolean };

export const createKey = (
  projectId: string,
  body: {
    name: string;
    access: KeyAccess;
    agentIds: string[];
    requestsPerMinute?: number | null;
  } & NewExpiry,
): Promise<Answer<CreatedKey>> => ask("POST", `/api/projects/${projectId}/keys`, { body });

/** `requestsPerMinute` null: no limit. */
export const limitKey = (id: string, requestsPerMinute: number | null): Promise<Answer<Key>> =>
  ask("PATCH", `/api/keys/${id}`, { body: { requestsPerMinute } });

export const revokeKey = (id: string) => remove(`/api/keys/${id}`);

export const createAccessToken = (
  body: { name: string; scope: TokenScope } & Omit<NewExpiry, "expiresAt">,
): Promise<Answer<CreatedAccessToken>> => ask("POST", "/api/access-tokens", { body });

export const revokeAccessToken = (id: string) => remove(`/api/access-tokens/${id}`);
