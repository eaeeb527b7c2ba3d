// The model, provider, conversation and user of a trace: of its latest call of a model, and as far as its spans agree.

import { hash } from "node:crypto";
import { compareNanos } from "../../model/trace/times.ts";
import type { Identity, Span } from "../../model/trace/trace.ts";
import type { TraceReading } from "../conventions/read-trace.ts";
import { attributeOf, isOrchestrator } from "../span/conversation.ts";
import { idText } from "../span/id-text.ts";
import { isRuled } from "../span/sources.ts";

const modelKeys = ["gen_ai.response.model", "gen_ai.request.model"];
const providerKeys = ["gen_ai.provider.name", "gen_ai.system"];
const conversationKeys = ["gen_ai.conversation.id", "session.id"];
const userKeys = ["user.id"];

export function identityOf(spans: Span[], reading: TraceReading | null): Identity {
  const ids = idsOf(spans, reading);
  if (reading) {
    const { model, provider } = reading;
    return { model: model?.value ?? null, provider: provider?.value ?? null, ...ids };
  }
  const latest = spans
    .filter(isOrchestrator)
    .reduce<Span | null>((best, span) => (best && isLater(best, span) ? best : span), null);
  return {
    model: latest && textIn(latest, modelKeys),
    provider: latest && textIn(latest, providerKeys),
    ...ids,
  };
}

/**
 * As they were sent: under the first key that any span has. Ids that differ between spans are null: one of them would be a
 * guess.
 */
export function idsOf(
  spans: Span[],
  reading: TraceReading | null,
): Pick<Identity, "conversationId" | "userId"> {
  if (reading) {
    const { conversationId, userId } = reading;
    return { conversationId: conversationId?.value ?? null, userId: userId?.value ?? null };
  }
  return { conversationId: agreed(spans, conversationKeys), userId: agreed(spans, userKeys) };
}

/** Of spans that come in parts, the few that give the ids of all in `idsOf`: of each key, two different ids are enough. */
export class IdSpans {
  readonly spans: Span[] = [];
  readonly #known = new Map<string, Set<string>>();

  add(spans: Span[]): void {
    for (const span of spans) if (this.#isNew(span)) this.spans.push(span);
  }

  #isNew(span: Span): boolean {
    let isNew = false;
    for (const keys of [conversationKeys, userKeys]) {
      const ruled = isRuled(span, keys[0]!);
      for (const key of keys) {
        const id = idText(attributeOf(span, key));
        const name = `${ruled} ${key}`;
        const known = this.#known.get(name) ?? new Set();
        if (id === null || known.size > 1 || known.has(id)) continue;
        this.#known.set(name, known.add(id));
        isNew = true;
      }
    }
    return isNew;
  }
}

const idMax = 255;
const digestDigits = 32;

/**
 * The id as it is stored, shown and filtered by. One that is too long, or that no text column takes, ends in its hash: two
 * ids stay two.
 */
export function boundedId(id: string): string {
  if (id.length <= idMax && !id.includes("\0") && id.isWellFormed()) return id;
  const digest = hash("sha256", Buffer.from(id, "utf16le"), "hex").slice(0, digestDigits);
  const start = id.slice(0, idMax - digestDigits - 1).replaceAll("\0", "\uFFFD");
  return `${start.toWellFormed()}…${digest}`;
}

function isLater(a: Span, b: Span): boolean {
  return (
    (compareNanos(a.end_time_unix_nano ?? "", b.end_time_unix_nano ?? "") ||
      compareNanos(a.start_time_unix_nano ?? "", b.start_time_unix_nano ?? "")) > 0
  );
}

/**
 * The ID that every span with one of these attributes has: with the first of them that any span has. If rules of the agent
 * gave some spans the first, only those count.
 */
function agreed(spans: Span[], keys: string[]): string | null {
  const ruled = spans.filter(span => isRuled(span, keys[0]!));
  for (const key of keys) {
    let found: string | null = null;
    for (const span of ruled.length > 0 ? ruled : spans) {
      const id = idText(attributeOf(span, key));
      if (id === null || id === found) continue;
      if (found !== null) return null;
      found = id;
    }
    if (found !== null) return found;
  }
  return null;
}

function textIn(span: Span, keys: string[]): string | null {
  for (const key of keys) {
    const value = attributeOf(span, key);
    if (typeof value === "string" && /\S/.test(value)) return value;
  }
  return null;
}
