// Where a documented attribute of a translated span was read.
import type { Source } from "../../model/trace/shown.ts";
import type { Span } from "../../model/trace/trace.ts";

/** In place of a convention's name, where a rule of the agent gave the attribute. */
export const ownRules = "rules";

export const inputKeys = ["gen_ai.input.messages", "gen_ai.prompt"] as const;
export const replyKeys = ["gen_ai.output.messages", "gen_ai.response.text"] as const;

export function isRuled(span: Span, documented: string): boolean {
  const { translated } = span;
  return (
    translated !== undefined &&
    Object.hasOwn(translated, documented) &&
    translated[documented]!.convention === ownRules
  );
}

/** Undefined if the attribute is the span's own. */
export function sourceOf(span: Span, documented: string): Source | undefined {
  const translation = Object.hasOwn(span.translated ?? {}, documented)
    ? span.translated![documented]
    : undefined;
  if (!translation) return undefined;
  const { attribute, convention } = translation;
  const isAttribute =
    attribute !== null && (attribute.endsWith("*") || Object.hasOwn(span.attributes, attribute));
  return isAttribute
    ? { attribute, event: null, convention }
    : { attribute: null, event: attribute, convention };
}
