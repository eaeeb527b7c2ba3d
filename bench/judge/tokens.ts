// Tokens of o200k_base that judging takes, prompts and answers together: what a provider bills for typical questions.
import { Tiktoken } from "js-tiktoken/lite";
import o200kBase from "js-tiktoken/ranks/o200k_base";
import { together } from "../../src/judge/batches.ts";
import { criteriaPerCall, type SemanticAsk } from "../../src/model/judge/call.ts";
import { type ConversationItem, fitMaterial } from "../../src/model/judge/material.ts";
import { type JudgeRequest, routeRequest, semanticRequest } from "../../src/remote/judge/client.ts";
import { tokensOf } from "../../src/remote/judge/prompts.ts";
import { labelsOf, type JudgeRequest as Sent, verdictsOf, wordsOf } from "../../test/support/judge-server.ts";
import type { Figures, Parts } from "../benchmark.ts";

const encoding = new Tiktoken(o200kBase);

export async function open(): Promise<Parts> {
  return [async () => figures()];
}

function figures(): Figures {
  const [one, six] = [1, 6].map(count => semanticRequest(askOf(count)));
  const route = routeRequest({
    userInput,
    scenarios: scenarios.map((scenario, at) => ({ id: `s${at}`, scenario })),
  });
  const tests = scenarios.map((scenario, test) =>
    [0, 1].map(at => ({ scenario, criterion: criteria[(2 * test + at) % criteria.length]! })),
  );
  const judging = together(tests, criteriaPerCall).map(part =>
    semanticRequest({
      ...askOf(1),
      criteria: part.map((asked, at) => ({ id: `c${at}`, replyId: "r1", ...asked })),
    }),
  );
  const long = semanticRequest({ ...askOf(1), replies: [{ id: "r1", text: longReply }] });
  const all = [...judging, long, one!, six!];
  return {
    "one criterion": tokensWithAnswer(one!),
    "six criteria": tokensWithAnswer(six!),
    "ten routed tests, twenty criteria": [route, ...judging].reduce(
      (sum, one) => sum + tokensWithAnswer(one),
      0,
    ),
    "a reply of 24,000 characters": tokensWithAnswer(long),
    "a reply of 24,000 characters alone": tokensIn(longReply),
    "beginning that all checks share": shared(all),
    "beginning that all scenario matches share": shared([
      route,
      routeRequest({ userInput: "Hi", scenarios: [] }),
    ]),
    "estimate to tokens of a prompt": tokensOf(one!.prompt) / promptTokens(one!),
    "estimate to tokens of a long prompt": tokensOf(long.prompt) / promptTokens(long),
  };
}

function tokensIn(text: string): number {
  return encoding.encode(text).length;
}

function promptTokens({ prompt: { instructions, material } }: JudgeRequest<unknown>): number {
  return tokensIn(instructions) + tokensIn(material);
}

/** With the answer of a judge that quotes eight words and gives a short reason. */
function tokensWithAnswer(request: JudgeRequest<unknown>): number {
  const { instructions, material } = request.prompt;
  const sent = { instructions, material } as Sent;
  const { first_word, last_word } = wordsOf(sent);
  const reason = "The reply names the day on which the parcel arrives.";
  const answer =
    request.kind === "route"
      ? { labels: labelsOf(sent, () => "match", "Asks where an order is.") }
      : { verdicts: verdictsOf(sent, { reason }) };
  return promptTokens(request) + tokensIn(JSON.stringify({ first_word, ...answer, last_word }));
}

/** Tokens of the longest common beginning of their instructions. */
function shared(requests: JudgeRequest<unknown>[]): number {
  const [first, ...others] = requests.map(({ prompt }) => encoding.encode(prompt.instructions));
  return Math.min(...others.map(other => first!.findIndex((token, at) => token !== other[at])));
}

const userInput = "Where is my parcel? I ordered it last week, and the order number is 7.";
const reply =
  "Your parcel has left our warehouse in Lyon and arrives tomorrow, on Friday. You can follow it with the link in the email that we sent you.";

const criteria = [
  "The reply says on which day the parcel arrives.",
  "Says where the parcel is now.",
  "Does not promise a refund.",
  "Looks the order up before it answers.",
  "Every date comes from a tool result.",
  "Tells the user how to follow the parcel.",
];

const scenarios = [
  "The user asks where an order is.",
  "The user wants to send something back.",
  "The user asks for the price of a product.",
  "The user complains about a late delivery.",
  "The user wants to change the address of an order.",
  "The user asks for an invoice.",
  "The user wants to cancel an order.",
  "The user asks about opening hours.",
  "The user cannot sign in.",
  "The user wants to speak to a person.",
];

const paragraph =
  "Thank you for your patience. We looked into every parcel of your order, and this is what we found out about the way that each of them took.\n";
const longReply = paragraph.repeat(200).slice(0, 24_000);

function askOf(count: number): SemanticAsk {
  const at = { spanId: "s", attribute: null };
  const items: ConversationItem[] = [
    { kind: "system", text: "You help customers of a shop. Be brief.", ...at },
    { kind: "user", text: "", is: "user_input", ...at },
    { kind: "tool_call", name: "find_order", text: '{"order":7}', ...at },
    { kind: "tool_result", name: "find_order", text: '{"state":"sent","from":"Lyon","due":"Friday"}', ...at },
    { kind: "assistant", text: "", is: "reply", ...at },
  ];
  const material = fitMaterial({ items, complete: true }, { tools: true, replyLength: reply.length });
  const asked = criteria.slice(0, count).map((criterion, index) => ({
    ...{ id: `c${index}`, replyId: "r1", scenario: scenarios[0]!, criterion },
  }));
  return { userInput, material, replies: [{ id: "r1", text: reply }], criteria: asked };
}
