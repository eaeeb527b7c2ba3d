// What the API answers, where the model has no type of its own for it.
import type { KeyAccess } from "../src/model/key.ts";
import type { Outcome, RunState } from "../src/model/run.ts";

export type Page<T> = { items: T[]; nextCursor: string | null };

export type SignedIn = {
  user: { id: string; email: string; name: string; emailVerified: boolean };
  session: { id: string; token: string };
};

/** One of the account's sessions; times are ISO 8601. */
export type Session = {
  id: string;
  token: string;
  createdAt: string;
  updatedAt: string;
  expiresAt: string;
  ipAddress?: string | null;
  userAgent?: string | null;
};

/** `resendAllowedAt` null: now, or never needed again. */
export type Verification = { email: string; verified: boolean; resendAllowedAt: string | null };

export type Key = {
  id: string;
  name: string;
  masked: string;
  access: KeyAccess;
  agentIds: string[];
  /** null: never. */
  expiresAt: string | null;
  lastUsedAt: string | null;
  createdAt: string;
  status: "active" | "expired";
};

/** `key` is its whole text, answered this once. */
export type CreatedKey = Key & { key: string };

/** Of a listed trace, what the screens here show. */
export type ListedTrace = {
  id: string;
  receivedAt: string;
  run: { state: RunState; verdict: Outcome | null } | null;
};
