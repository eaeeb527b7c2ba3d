// Where input and reply are read from: the spans that the agent names, else what a trace with several calls of models has last.
import type { Derived, FoundText, MergedTrace, SeveralModelCalls, Span } from "../../model/trace/trace.ts";
import { foundAt } from "../conventions/apply.ts";
import { byEnd, firstOf, questionIn, replyIn } from "../conventions/question-and-reply.ts";
import type { TraceReading } from "../conventions/read-trace.ts";
import { attributeOf } from "../span/conversation.ts";
import type { ReadMessage } from "../span/message-parts.ts";
import type { ReadSpan, Sourced } from "../span/reading.ts";
import { readDocumented } from "../span/table.ts";

type Conversation = Pick<Derived, "userInput" | "responseText" | "judgedText">;

/** What the named spans have, the latest first; null if the agent names none, or none of the trace's. */
export function namedConversation(
  { spans, readFrom }: MergedTrace,
  reading: TraceReading | null,
  conversationOf: (spans: Span[]) => Conversation,
): Conversation | null {
  if (!readFrom) return null;
  const named = spans.filter(({ name }) => name === readFrom.spanName);
  if (named.length === 0) return null;
  const documented = conversationOf(named);
  const reads = reading ? reading.spans.filter(({ span }) => named.includes(span)) : [];
  const latest = reads.toSorted(byEnd).reverse();
  const found = (field: keyof Conversation, read: Sourced<string> | null): FoundText | null =>
    read ? foundAt(read, field) : documented[field];
  const asked = firstOf(latest, one => questionIn(one.asked));
  const answered = firstOf(latest, one => replyIn(one.answered));
  return {
    userInput: found("userInput", asked),
    responseText: found("responseText", answered),
    judgedText: found("judgedText", answered),
  };
}

/** Null unless both texts are of a call of a model, and others were asked something else. `reading`: null if no convention reads any. */
export function severalModelCalls(
  spans: Span[],
  reading: TraceReading | null,
  { userInput, responseText }: Pick<Conversation, "userInput" | "responseText">,
): SeveralModelCalls | null {
  const reads = reading?.spans ?? spans.flatMap((span, at) => readDocumented(span, at) ?? []);
  const models = reads.filter(({ role }) => role === "model");
  if (models.length < 2 || !userInput || !responseText) return null;
  const read = models.find(({ span }) => span.span_id === userInput.spanId);
  if (!read || !models.some(({ span }) => span.span_id === responseText.spanId)) return null;
  const others = models.filter(one => {
    const question = questionIn(one.asked)?.value ?? attributeOf(one.span, "gen_ai.prompt");
    return typeof question === "string" && question !== userInput.text && !tells(read, question);
  });
  if (others.length === 0) return null;
  const names = [...others, read].map(({ span }) => span.name);
  return {
    calls: others.length + 1,
    read: read.span.name,
    spanNames: [...new Set(names)].slice(0, namesMax),
  };
}

const namesMax = 20;

/** Whether the text is an earlier message of the same conversation. */
function tells({ asked }: ReadSpan, text: string): boolean {
  const isText = ({ pieces }: ReadMessage) =>
    pieces.some(piece => piece.kind === "text" && piece.text === text);
  return asked?.value.some(isText) ?? false;
}
