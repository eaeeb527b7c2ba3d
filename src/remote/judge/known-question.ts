// A question whose answer is known: asked to test a judge, and to tell whether it refuses one question or all.
import type { SemanticAsk } from "../../model/judge/call.ts";

/** Every usable judge says "met". */
export const knownQuestion = {
  userInput: "Where is my parcel? I ordered it last week.",
  replies: [{ id: "r1", text: "Your parcel has left our warehouse and arrives tomorrow, on Friday." }],
  criteria: [
    {
      id: "c1",
      replyId: "r1",
      scenario: "The user asks where an order is.",
      criterion: "The reply says on which day the parcel arrives.",
    },
  ],
} satisfies SemanticAsk;
