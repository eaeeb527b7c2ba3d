// API keys: creates, masks and hashes them, and checks which agents a key may write to.
import { hash, randomInt } from "node:crypto";
import type { AgentConventions } from "./agent/agent.ts";
import type { StoringRules } from "./privacy.ts";

export type KeyAccess = "full" | "granular";

/** A valid key, neither revoked nor expired, as ingestion uses it. */
export type AdmittedKey = {
  id: string;
  projectId: string;
  /** The account that owns the project. */
  accountId: string;
  access: KeyAccess;
  /** The agents it may write to with granular access. Empty for full access. */
  agentIds: string[];
  /** Whether the account that owns the project has verified its email. */
  emailVerified: boolean;
  /** The agents of the project that have rules, conventions or settings of what is stored, at most a few hundred; null: none has. */
  conventions: AgentConventions[] | null;
  /** Whether further agents have some, for which `conventions` has no room. */
  hasMoreConventions: boolean;
  /** That of the project's privacy settings, which raise it with every change. */
  privacyRevision: number;
  /** Null: the project redacts nothing. */
  storing: StoringRules | null;
  /** Requests per minute; null: no limit. */
  rateLimits: RateLimits;
};

/** Requests per minute of a key, and of all keys of its project together; null: no limit. */
export type RateLimits = { key: number | null; project: number | null };

export const requestsPerMinuteMax = 1_000_000;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A new key: `svc_` and 40 characters of [A-Za-z0-9], 238 bits. */
export function makeKey(): string {
  return `svc_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}

/** The only form of a key that is stored. */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** The key as lists show it, from its last four characters. */
export function maskKey(lastFour: string): string {
  return `svc_...${lastFour}`;
}

/** Whether the key may write to the agent. */
export function allowsAgent(key: AdmittedKey, agentId: string): boolean {
  return key.access === "full" || key.agentIds.includes(agentId);
}
