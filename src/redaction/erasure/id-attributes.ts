// The attributes in which an erasure looks for the ID of a user or a conversation: of any convention, and of own rules.
import type { ConventionRule } from "../../model/agent/read-by.ts";
import { idNames } from "../ids.ts";

export type IdKind = "userId" | "conversationId";

const known: Record<IdKind, readonly string[]> = {
  userId: [...idNames.user],
  conversationId: [...idNames.conversation],
};

const targets: Record<IdKind, string> = { userId: "user.id", conversationId: "gen_ai.conversation.id" };

/** `metadata>user` is a field of JSON in the attribute `metadata`. */
export function idAttributes(kind: IdKind, rules: readonly ConventionRule[] = []): readonly string[] {
  const own = rules.flatMap(({ from, to }) => (to === targets[kind] ? [from] : []));
  return own.length === 0 ? known[kind] : [...new Set([...known[kind], ...own])];
}
