// Sample replies to customer reviews. Their traces contain only text and token usage.
import { inputOf, modelStep, replyOf, type Step, step, tokensIn, usageOf } from "../sample.ts";

export const reviewReplies: Step[] = [
  reviewReply(
    "Three stars. The lamp is lovely, but it came without a bulb.",
    "Thank you for the kind words about the lamp, and sorry for the missing bulb: one is on its way to you, free of charge.",
  ),
  reviewReply(
    "Waited two weeks, then the wrong color. Never again!",
    "Two weeks and then the wrong color is not what you paid for. A yellow one leaves today by express, and you may keep the grey one.",
  ),
  reviewReply(
    "Best backpack I ever had, and I have had many.",
    "That makes our day! May it accompany you on many more trails.",
  ),
];

function reviewReply(review: string, reply: string): Step {
  return step("Answer a review", 25, {}, [
    modelStep("Write the reply", 700 + 5 * reply.length, {
      ...inputOf(review),
      ...replyOf(reply),
      ...usageOf(280 + tokensIn(review), tokensIn(reply)),
    }),
  ]);
}
