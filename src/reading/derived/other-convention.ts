// Recognizes attributes of other tracing conventions, to tell users which GenAI attributes are missing.
import type { Derived, Span } from "../../model/trace/trace.ts";
import { presets } from "../presets.ts";
import { attributesByLack, type Lack, type Signs } from "../span/signs.ts";

/** What an attribute provides in its convention. A key that ends in a dot is a prefix. */
type Sign = { key: string; convention: string; standsFor: readonly Lack[] };

/** By what writes them. */
export const conventions: Record<string, Signs & { way: string }> = Object.fromEntries(
  presets
    .flatMap(({ title, signs }) => signs.map(one => ({ title, ...one })))
    .map(({ title, of = title, way = wayOf(title), ...signs }) => [of, { way, ...signs }]),
);

/** Those that no release of the SDK sends. */
function wayOf(title: string): string {
  return `Set them yourself, or switch on ${title} in the agent's settings, Conventions.`;
}

const signs: Sign[] = [];
/** Those that count on spans of any scope, by key. */
const general = new Map<string, Sign>();
/** By scope: those that count on its spans instead, by key. */
const ofScopes = new Map<string, Map<string, Sign>>();
for (const [convention, { attributes: own, scope }] of Object.entries(conventions)) {
  const added = Object.entries(own).map(([key, standsFor]) => ({ key, convention, standsFor }));
  signs.push(...added);
  const counted = scope === undefined ? general : new Map<string, Sign>();
  for (const sign of added) counted.set(sign.key, sign);
  if (scope !== undefined) ofScopes.set(scope, counted);
}

/** Matches the longest key, regardless of the order of the table. */
const anySign = new RegExp(
  `^(?:${[...new Set(signs.map(({ key }) => key))]
    .sort((a, b) => b.length - a.length)
    .map(key => key.replaceAll(".", "\\.") + (key.endsWith(".") ? "" : "(?![^.])"))
    .join("|")})`,
);

/**
 * The other conventions whose attributes provide something missing in the trace, with those attributes (`*` for prefixes) and
 * what to send instead; null if there are none.
 */
export function findOtherConvention(spans: Span[], lacks: ReadonlySet<Lack>): Derived["otherConvention"] {
  if (lacks.size === 0) return null;
  const found = new Set<Sign>();
  for (const span of spans) {
    for (const sign of signsOf(span)) if (sign.standsFor.some(lack => lacks.has(lack))) found.add(sign);
  }
  if (found.size === 0) return null;

  // In the order of the table, so that the result does not depend on the order of spans and attributes.
  const matched = signs.filter(sign => found.has(sign));
  const names = [...new Set(matched.map(sign => sign.convention))];
  const missing = (Object.keys(attributesByLack) as Lack[]).filter(
    lack => lacks.has(lack) && matched.some(sign => sign.standsFor.includes(lack)),
  );
  return {
    name: names.join(", "),
    found: matched.map(({ key }) => (key.endsWith(".") ? `${key}*` : key)),
    send: [
      `Send ${missing.map(lack => attributesByLack[lack]).join(", ")}.`,
      ...names.map(name => conventions[name]!.way),
    ].join(" "),
  };
}

/** Those of the convention that claims the span, else all. */
function signsOf(span: Span): Sign[] {
  const own = ofScopes.get(span.scope?.name ?? "");
  const matched: Sign[] = [];
  for (const key in span.attributes) {
    const match = anySign.exec(key)?.[0];
    if (match === undefined) continue;
    const sign = own?.get(match) ?? general.get(match);
    if (sign) matched.push(sign);
  }
  const owner = matched.find(({ convention }) => conventions[convention]!.claims)?.convention;
  return owner === undefined ? matched : matched.filter(({ convention }) => convention === owner);
}
