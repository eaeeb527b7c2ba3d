// Changes to a project's privacy settings, and trials of rules.
import type { Privacy, PrivacyPreview } from "../../src/http/privacy-schemas.ts";
import { type Answer, ask } from "../api.ts";

export const savePrivacy = (projectId: string, body: Privacy): Promise<Answer<Privacy>> =>
  ask("PUT", `/api/projects/${projectId}/privacy`, { body });

/** Tries rules on the latest traces; stores nothing. */
export const previewPrivacy = (
  projectId: string,
  { builtIn, rules, pseudonyms }: Pick<Privacy, "builtIn" | "rules" | "pseudonyms">,
): Promise<Answer<PrivacyPreview>> =>
  ask("POST", `/api/projects/${projectId}/privacy/preview`, { body: { builtIn, rules, pseudonyms } });
