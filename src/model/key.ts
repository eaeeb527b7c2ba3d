// An API key: what it may write to, and how its text is made, masked and hashed.
import { hash, randomInt } from "node:crypto";

export type KeyAccess = "full" | "granular";

/** A key as ingestion sees it, once it has been found and is neither revoked nor expired. */
export type AdmittedKey = {
  id: string;
  projectId: string;
  access: KeyAccess;
  /** Granular access: the agents it may write to. Empty for full access. */
  agentIds: string[];
  /** Whether the account that owns the project has verified its email. */
  emailVerified: boolean;
};

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** A new key: `svc_` and 40 characters of [A-Za-z0-9], 238 bits. */
export function makeKey(): string {
  return `svc_${Array.from({ length: 40 }, () => alphabet[randomInt(alphabet.length)]).join("")}`;
}

/** All that is stored of a key's text. */
export function hashKey(key: string): Buffer {
  return hash("sha256", key, "buffer");
}

/** How a key is listed, from its last four characters. */
export function maskKey(lastFour: string): string {
  return `svc_...${lastFour}`;
}

/** Whether the key may write to the agent. */
export function allowsAgent(key: AdmittedKey, agentId: string): boolean {
  return key.access === "full" || key.agentIds.includes(agentId);
}
