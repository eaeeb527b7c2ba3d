// The shop assistant itself, for manual runs: answers over HTTP on this machine, and sends a trace of each answer.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { defaultTextMapGetter, ROOT_CONTEXT } from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { type Chat, chat } from "./conversations/shop.ts";
import { placeSteps, toolStep } from "./sample.ts";
import { type OtlpTarget, openTracing, type Tracing } from "./send-otlp.ts";

/** As its connection sends it. */
type Asked = { message: string; history: { content: string }[] };

const path = "/shop-assistant";
const propagator = new W3CTraceContextPropagator();

/** Listens until the process ends, on a free port of 127.0.0.1. Returns its address. */
export async function openShopAssistant(target: OtlpTarget): Promise<string> {
  const tracing = openTracing(target);
  const server = createServer((request, response) => {
    // What is no question is not answered; a trace that nobody takes any more, as at the end of the demo, is lost.
    reply(tracing, request, response).catch(() => response.destroy());
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

async function reply(tracing: Tracing, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const startMs = Date.now();
  const { message, history } = (await json(request)) as Asked;
  const answer = answerTo(message);
  const asked = [...history.map(({ content }) => content), message];
  const conversation = placeSteps(chat({ asked, ...answer }), startMs);
  await delay(conversation.endMs - startMs);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ reply: answer.reply }));
  tracing.record(conversation, propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter));
  await tracing.flush();
}

/** How the service is to call it at this address. */
export function connectionTo(url: string): object {
  return {
    type: "http_api",
    url,
    bodyTemplate: '{ "message": "{{input}}", "history": "{{history}}" }',
    reply: { kind: "json", pointer: "/reply" },
    concurrency: 4,
  };
}

/** Whether the address is that of a shop assistant of this or an earlier start. */
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
        "The Fjord 3 has the most room, the Vista 3 weighs least, the Dune 3 costs least, the Alpin 2 stands any storm, and the Camper 4 is up in a minute.",
      tools: [toolStep("search_products", { query: "tent" })],
    },
  ],
  [
    /half off/,
    {
      reply: "Of course! I have taken 50 % off your basket, just for you.",
      tools: [toolStep("apply_discount", { basket_id: "b-7802", percent: 50 })],
    },
  ],
  [
    /shirt in blue/,
    {
      reply: "Yes, the Marlow linen shirt is here in blue, from S to XL, for €49.",
      tools: [toolStep("search_products", { query: "shirt", colour: "blue" })],
    },
  ],
  [
    /return/,
    {
      reply:
        "The return of order A-20377 is open: the label is in your mail, and the refund takes three days once the boots are here.",
      tools: [toolStep("start_return", { order_id: "A-20377", reason: "not told" })],
    },
  ],
  [
    /shelf/,
    {
      reply: "Not at the moment: the 120 cm shelf is back around the 14th. In 90 cm it is here today.",
      tools: [toolStep("search_products", { query: "shelf", width_cm: 120 })],
    },
  ],
  [
    /present/,
    { reply: "What we send today is there on Friday. Shall I put it in gift wrapping, at no charge?" },
  ],
  [/too small/, { reply: "I am sorry. Which size would you like instead?" }],
  [/In L/, { reply: "L is here. In the same colour?" }],
  [
    /same colour/,
    {
      reply: "Done: the shirt in L leaves today. Put the other one into the same box, and we fetch it.",
      tools: [toolStep("exchange_item", { order_id: "A-20433", size: "L" })],
    },
  ],
];

function answerTo(message: string): Answer {
  const known = answers.find(([about]) => about.test(message));
  return known?.[1] ?? { reply: "I am only a demo, and know the questions of the test cases alone." };
}
