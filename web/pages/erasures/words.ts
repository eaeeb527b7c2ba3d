// Words of the screen that erases data.
import type { Erasure } from "../../../src/http/projects/erasure-schemas.ts";
import type { CriterionKind } from "../../../src/model/erasure.ts";
import { numberText } from "../../format.ts";
import type { Word } from "../../labels.ts";

export const criteria: Record<CriterionKind, { label: string; field: string; hint: string }> = {
  userId: {
    label: "User ID",
    field: "User ID",
    hint: "The whole ID as your agent sends it. Its pseudonyms are found, too.",
  },
  conversationId: {
    label: "Conversation ID",
    field: "Conversation ID",
    hint: "The whole ID as your agent sends it. Its pseudonyms are found, too.",
  },
  externalId: {
    label: "External ID",
    field: "External ID",
    hint: "An x-request-id or an OTLP trace ID.",
  },
  traceIds: { label: "Trace IDs", field: "Trace IDs", hint: "IDs of traces here, separated by commas." },
  text: {
    label: "Text",
    field: "Text",
    hint: "At least 4 characters, case-sensitive, anywhere in a trace, also inside longer words.",
  },
};

export const erasureStates: Record<Erasure["state"], Word> = {
  running: { text: "Running", icon: "clock", tone: "info" },
  done: { text: "Done", icon: "check", tone: "good" },
  failed: { text: "Failed", icon: "cross", tone: "bad" },
};

export const tracesText = (count: number) => `${numberText(count)} ${count === 1 ? "trace" : "traces"}`;

export function progressText({ step, progress, matched, erased }: Erasure): string {
  if (step === "find") {
    return `Reading ${numberText(progress.read)} of ${tracesText(progress.of)}; ${numberText(matched)} found so far.`;
  }
  return `Erasing ${numberText(erased)} of ${tracesText(matched)}.`;
}
