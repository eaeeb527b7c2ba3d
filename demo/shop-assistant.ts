// The agent behind the demo's manual runs: an HTTP server on this machine that sends a trace of each reply.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { defaultTextMapGetter, ROOT_CONTEXT } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { type Chat, chat } from "./conversations/shop.ts";
import { placeSteps, toolStep } from "./sample.ts";
import { type OtlpTarget, openTracing, type Tracing } from "./send-otlp.ts";

/** The request body, as its connection sends it. */
type ChatRequest = { message: string; history: { content: string }[] };

const path = "/shop-assistant";
const propagator = new W3CTraceContextPropagator();

/** Listens on a free port of 127.0.0.1 until the process ends. Returns its URL. */
export async function openShopAssistant(target: OtlpTarget): Promise<string> {
  const tracing = openTracing(target);
  const server = createServer((request, response) => {
    // An invalid request is not answered. Traces sent while the demo shuts down are lost.
    reply(tracing, request, response).catch(() => response.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function reply(tracing: Tracing, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startMs = Date.now();
  const { message, history } = (await json(request)) as ChatRequest;
  const answer = answerTo(message);
  const asked = [...history.map(({ content }) => content), message];
  const conversation = placeSteps(chat({ asked, ...answer }), startMs);
  await delay(conversation.endMs - startMs);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ reply: answer.reply }));
  tracing.record(conversation, propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter));
  await tracing.flush();
}

/** The agent connection to the assistant at this URL. */
export function connectionTo(url: string): object {
  return {
    type: "http_api",
    url,
    bodyTemplate: '{ "message": "{{input}}", "history": "{{history}}" }',
    reply: { kind: "json", pointer: "/reply" },
    concurrency: 4,
  };
}

/** Whether the URL belongs to a shop assistant of this or an earlier start. */
export function isShopAssistant(url: string): boolean {
  return /^http:\/\/127\.0\.0\.1:\d+/.test(url) && new URL(url).pathname === path;
}

type Answer = Pick<Chat, "reply" | "tools">;

const answers: [RegExp, Answer][] = [
  [
    /order\?/,
    {
      reply: "Order A-20418 is on its way and should be with you on Thursday before noon.",
      tools: [toolStep("track_order", { order_id: "A-20418" })],
    },
  ],
  [
    /tents/,
    {
      reply:
        "The Fjord 3 has the most room, the Vista 3 weighs the least, the Dune 3 is the cheapest, the Alpin 2 withstands any storm, and the Camper 4 is up in a minute.",
      tools: [toolStep("search_products", { query: "tent" })],
    },
  ],
  [
    /half off/,
    {
      reply: "Of course! I have taken 50% off your cart, just for you.",
      tools: [toolStep("apply_discount", { cart_id: "c-7802", percent: 50 })],
    },
  ],
  [
    /shirt in blue/,
    {
      reply: "Yes, the Marlow linen shirt is available in blue, from S to XL, for €49.",
      tools: [toolStep("search_products", { query: "shirt", color: "blue" })],
    },
  ],
  [
    /return/,
    {
      reply:
        "I have opened a return for order A-20377: the label is in your email, and the refund takes three days once we receive the boots.",
      tools: [toolStep("start_return", { order_id: "A-20377", reason: "not given" })],
    },
  ],
  [
    /shelf/,
    {
      reply: "Not at the moment: the 120 cm shelf is back around the 14th. The 90 cm one is in stock today.",
      tools: [toolStep("search_products", { query: "shelf", width_cm: 120 })],
    },
  ],
  [/present/, { reply: "Anything we ship today arrives on Friday. Would you like free gift wrapping?" }],
  [/too small/, { reply: "Sorry about that. Which size would you like instead?" }],
  [/In L/, { reply: "We have L in stock. In the same color?" }],
  [
    /same color/,
    {
      reply: "Done: the shirt in L ships today. Put the other one in the same box, and we will pick it up.",
      tools: [toolStep("exchange_item", { order_id: "A-20433", size: "L" })],
    },
  ],
];

function answerTo(message: string): Answer {
  const known = answers.find(([about]) => about.test(message));
  return known?.[1] ?? { reply: "I am only a demo and can answer only the questions of the test cases." };
}
