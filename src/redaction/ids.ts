// Attributes that hold the id of a user or a conversation, in any convention, and those that a project wants as pseudonyms.
import { presets } from "../reading/presets.ts";

/** Attribute keys, read as the id of a user or of a conversation; `metadata>user_id` is a field in JSON in `metadata`. */
export type IdNames = { user?: readonly string[]; conversation?: readonly string[] };

const wellKnown = {
  user: ["user.id", "enduser.id", "user_id", "userId"],
  conversation: [
    "gen_ai.conversation.id",
    "session.id",
    "conversation_id",
    "conversationId",
    "session_id",
    "sessionId",
    "thread_id",
    "threadId",
  ],
};

/** By any convention. */
export const idNames: { user: ReadonlySet<string>; conversation: ReadonlySet<string> } = {
  user: new Set([...wellKnown.user, ...presets.flatMap(({ ids }) => ids.user)]),
  conversation: new Set([...wellKnown.conversation, ...presets.flatMap(({ ids }) => ids.conversation)]),
};

/** `always`: becomes a pseudonym; `ifFound`: does if a rule finds something in it. */
export type IdRule = "always" | "ifFound";

export type IdKeys = {
  /** Of an attribute. */
  of(key: string): IdRule | undefined;
  /** Of the fields of an attribute that is an object, or the JSON of one. */
  fieldsOf(key: string): ReadonlyMap<string, IdRule> | undefined;
};

/** An id that one preset reads is one for all, so a pseudonym of `user.id` is one of `langfuse.user.id`, too. */
export function idKeysOf(pseudonyms: readonly string[], more: IdNames = {}): IdKeys {
  const rules = new Map<string, IdRule>();
  const fields = new Map<string, Map<string, IdRule>>();
  for (const kind of ["user", "conversation"] as const) {
    const keys = [...idNames[kind], ...(more[kind] ?? [])];
    const rule = keys.some(key => pseudonyms.includes(key)) ? "always" : "ifFound";
    for (const key of keys) {
      const [outer, field] = key.split(">") as [string, string?];
      if (field === undefined) rules.set(outer, rule);
      else fields.set(outer, (fields.get(outer) ?? new Map()).set(field, rule));
    }
  }
  for (const key of pseudonyms) rules.set(key, "always");
  return { of: key => rules.get(key), fieldsOf: key => fields.get(key) };
}
