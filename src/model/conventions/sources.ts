// Where a documented attribute of a translated span was read.
import type { Span } from "../trace/trace.ts";

/** `attribute`: null for the span's name or one of its events. */
export type Source = { attribute: string | null; event: string | null; convention: string };

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
