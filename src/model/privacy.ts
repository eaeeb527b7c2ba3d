// The privacy settings of a project: what is redacted before it is stored, and what the judge may see.

import { createHmac } from "node:crypto";
import type { RedactionRules } from "./redaction.ts";

export type PrivacySettings = RedactionRules & {
  /** Names of built-in rules, or "*": applied to what the judge is sent. */
  judgeRules: readonly string[];
  judgeSeesToolResults: boolean;
};

export const noPrivacy: PrivacySettings = {
  builtIn: [],
  rules: [],
  pseudonyms: [],
  judgeRules: [],
  judgeSeesToolResults: true,
};

/** Whether anything that is stored may change. */
export function redactsAnything({ builtIn, rules, pseudonyms }: RedactionRules): boolean {
  return builtIn.length + rules.length + pseudonyms.length > 0;
}

/** What a process needs to store by the rules of a project. Rules and key are those of the revision. */
export type StoringRules = {
  projectId: string;
  revision: number;
  rules: RedactionRules;
  /** Null: it cannot be opened. */
  pseudonymKey: string | null;
};

/** `p_` and a keyed hash of the value: the same for the same value and key. */
export function pseudonymOf(key: string, value: string): string {
  const digest = createHmac("sha256", key).update(value, "utf16le").digest("base64url");
  return `p_${digest.slice(0, 22)}`;
}
