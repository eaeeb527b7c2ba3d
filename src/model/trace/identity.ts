// The model, provider, conversation and user of a trace: of its latest call of a model, and as far as its spans agree.
import type { TraceReading } from "../conventions/read-trace.ts";
import { attributeOf, isOrchestrator } from "../conversation/conversation.ts";
import { compareNanos } from "./merge.ts";
import type { Span } from "./trace.ts";

export type Identity = {
  /** The model that answered, else the one that was asked. */
  model: string | null;
  provider: string | null;
  conversationId: string | null;
  userId: string | null;
};

const modelKeys = ["gen_ai.response.model", "gen_ai.request.model"];
const providerKeys = ["gen_ai.provider.name", "gen_ai.system"];

/** Ids that differ between spans are null: one of them would be a guess. */
export function identityOf(spans: Span[], reading: TraceReading | null): Identity {
  if (reading) {
    const { model, provider, conversationId, userId } = reading;
    return {
      model: model?.value ?? null,
      provider: provider?.value ?? null,
      conversationId: conversationId?.value ?? null,
      userId: userId?.value ?? null,
    };
  }
  const latest = spans
    .filter(isOrchestrator)
    .reduce<Span | null>((best, span) => (best && isLater(best, span) ? best : span), null);
  return {
    model: latest && textIn(latest, modelKeys),
    provider: latest && textIn(latest, providerKeys),
    conversationId: agreed(spans, ["gen_ai.conversation.id", "session.id"]),
    userId: agreed(spans, ["user.id"]),
  };
}

function isLater(a: Span, b: Span): boolean {
  return (
    (compareNanos(a.end_time_unix_nano ?? "", b.end_time_unix_nano ?? "") ||
      compareNanos(a.start_time_unix_nano ?? "", b.start_time_unix_nano ?? "")) > 0
  );
}

/** The text that every span with one of these attributes has; the first attribute of each counts. */
function agreed(spans: Span[], keys: string[]): string | null {
  let found: string | null = null;
  for (const span of spans) {
    const text = textIn(span, keys);
    if (text === null || text === found) continue;
    if (found !== null) return null;
    found = text;
  }
  return found;
}

function textIn(span: Span, keys: string[]): string | null {
  for (const key of keys) {
    const value = attributeOf(span, key);
    if (typeof value === "string" && /\S/.test(value)) return value;
  }
  return null;
}
