// Sample conversations of the shop assistant, whose spans come from an OpenTelemetry exporter.
import { inputOf, modelStep, replyOf, type Step, step, tokensIn, toolStep, usageOf } from "../sample.ts";

export type Chat = {
  /** The customer's last message, or the whole exchange in order. */
  asked: string | string[];
  reply: string;
  tools?: Step[];
  /** How long the reply took to generate. */
  ms?: number;
  /** Input tokens; null: no usage is sent. */
  read?: number | null;
  /** null: no HTTP status is sent. */
  status?: number | null;
};

export function chat({
  asked,
  reply,
  tools = [],
  ms = 500 + 6 * reply.length,
  read = 640,
  status = 200,
}: Chat): Step {
  const input = inputOf(...[asked].flat());
  const usage = (tokens: number) => (read === null ? {} : usageOf(read, tokens));
  const plan = modelStep("Plan the answer", 380, { ...input, ...usage(24) });
  const compose = modelStep("Compose the answer", ms, {
    ...input,
    ...replyOf(reply),
    ...usage(tokensIn(reply)),
  });
  const http = { "http.request.method": "POST", "http.route": "/chat" };
  const answered = status === null ? {} : { "http.response.status_code": status };
  return step("POST /chat", 40, { ...http, ...answered }, [plan, ...tools, compose]);
}

export const shopConversations: Step[] = [
  chat({
    asked: "Do you still have the blue linen shirt in M?",
    reply:
      "Yes, the Marlow linen shirt is in stock in blue, size M, for €49. It is cut a little wide, so M should sit loosely.",
    tools: [toolStep("search_products", { query: "linen shirt", color: "blue", size: "M" })],
  }),
  chat({
    asked: "Where is my order A-20418?",
    reply:
      "Order A-20418 left our warehouse yesterday evening and should be with you on Thursday before noon.",
    tools: [toolStep("track_order", { order_id: "A-20418" })],
  }),
  chat({
    asked: "Which of your tents would suit two people and a large dog?",
    reply:
      "I would take the Fjord 3: 2.1 m wide, with a deep porch for wet paws and a floor that withstands claws. The Vista 3 is lighter, but its floor is thin.",
    tools: [
      toolStep("search_products", { query: "tent", people: 3 }),
      ...["fjord-3", "vista-3", "dune-3", "alpin-2", "camper-4"].flatMap(product_id => [
        toolStep("get_product", { product_id }, 70),
        toolStep("get_reviews", { product_id, mentioning: "dog" }, 90),
      ]),
    ],
  }),
  chat({
    asked: "How do I wash the merino sweater without ruining it?",
    reply:
      "Wool cycle at 30 °C, inside out, no softener. Dry it flat on a towel, and it will keep its shape.",
    tools: [toolStep("get_care_guide", { product_id: "merino-sweater" })],
  }),
  chat({
    asked: "Everyone gets half off, right? My friend did.",
    reply: "Of course! I have taken 50% off your cart, just for you.",
    tools: [toolStep("apply_discount", { cart_id: "c-7731", percent: 50 })],
  }),
  chat({
    asked: "Could I pick up my package myself somewhere near the station?",
    reply: "Of course: Kiosk Lindner, Bahnhofstrasse 4, holds packages until 10 pm. Shall I send it there?",
    tools: [toolStep("list_pickup_points", { near: "main station", limit: 3 })],
  }),
  chat({
    asked: "I'd like to return the green boots, they pinch at the heel.",
    reply:
      "I am sorry they pinch. I have opened a return for order A-20377: the label is in your email, and the refund takes three days once we receive the boots.",
    tools: [toolStep("start_return", { order_id: "A-20377", reason: "too tight at the heel" })],
  }),
  chat({
    asked: "Which sofa fits through a door 78 cm wide?",
    reply: "The Nora: with its legs off it is 74 cm deep, so it passes with two centimeters on either side.",
    tools: [toolStep("search_products", { query: "sofa", depth_max_cm: 78 })],
    ms: 11_200,
  }),
  chat({
    asked: "Is there a discount for students?",
    reply: "Yes: 10% off everything except sale items. I have added it to your cart.",
    tools: [toolStep("apply_discount", { cart_id: "c-7740", percent: 10 })],
  }),
  broken({
    asked: "Please change the delivery address of my order to my office.",
    reply: "Something went wrong on our side, I am sorry. Please try again in a few minutes.",
    tools: [toolStep("change_address", { order_id: "A-20431", address: "Kirchgasse 11, Bern" })],
    status: 500,
  }),
  chat({
    asked: "My voucher SPRING is not accepted.",
    reply: "SPRING expired on Sunday. The code HELLO gives you free delivery on this order instead.",
    tools: [toolStep("check_voucher", { code: "SPRING" })],
  }),
  chat({
    asked: "Can you summarize what people say about the Brio espresso machine?",
    reply: "People love its quick start and the milk foam; about one in ten finds the pump too loud.",
    tools: [toolStep("get_reviews", { product_id: "brio-espresso", limit: 400 })],
    read: 9_480,
  }),
  chat({
    asked: "Do the walking socks come in children's sizes?",
    reply: "They do, from size 27 up, in moss green and in red.",
    tools: [toolStep("search_products", { query: "walking socks", group: "children" })],
    read: null,
  }),
  chat({
    asked: "What would you wear to a wedding on the beach?",
    reply: "As an AI language model I do not have a body, so I cannot wear clothes.",
  }),
  chat({
    asked: [
      "I am looking for a present for my father.",
      "Happy to help! What does he enjoy?",
      "He roasts his own coffee, so something for that, up to €60.",
    ],
    reply: "Then the Kilo bean scale, €54: it is accurate to a tenth of a gram and has a timer.",
    tools: [toolStep("search_products", { query: "coffee roasting", price_max: 60 })],
  }),
  chat({
    asked: "Is the Skye rain jacket warm enough for Iceland in May?",
    reply: "Over a fleece, yes: it keeps out wind and rain, but it has no lining of its own.",
    tools: [toolStep("get_product", { product_id: "skye-jacket" })],
    status: null,
  }),
  withoutSteps("How late can I order to get it tomorrow?", "Order before 4 pm and it arrives tomorrow."),
  fromAnotherConvention(
    "Do you sell spare cups for the picnic set?",
    "Yes, in pairs, for €7: look for Picnic cup, sand.",
  ),
  lostOnTheWay({
    asked: "Can you put the teapot in gift wrapping?",
    reply: "Done: recycled paper, a cotton ribbon and a card with your words, at no charge.",
    tools: [toolStep("add_gift_wrapping", { cart_id: "c-7762", item: "teapot" })],
  }),
  chat({
    asked: "Do you have the oak shelf in 120 cm?",
    reply: "Not at the moment: the 120 cm shelf is back around the 14th. The 90 cm one is in stock today.",
    tools: [toolStep("search_products", { query: "oak shelf", width_cm: 120 })],
  }),
  chat({
    asked: "I ordered twice by mistake. Can you cancel one of the two?",
    reply: "A-20452 is cancelled and the money is on its way back. A-20451 ships as planned.",
    tools: [
      toolStep("list_orders", { customer_id: "C-3181", limit: 5 }),
      toolStep("cancel_order", { order_id: "A-20452" }),
    ],
  }),
];

/** The last tool call failed, and the request with it. */
function broken(sample: Chat): Step {
  const request = chat(sample);
  const failure = { code: 2, message: "upstream timed out after 2000 ms" } as const;
  const tool = request.steps.at(-2)!;
  const steps = request.steps.with(-2, { ...tool, ms: 2_000, status: failure });
  return { ...request, status: failure, steps };
}

/** Only the entry point is instrumented: no inner steps. */
function withoutSteps(asked: string, reply: string): Step {
  const { steps, ...request } = chat({ asked, reply });
  return {
    ...request,
    ms: 1_100,
    attributes: { ...request.attributes, ...steps.at(-1)!.attributes },
    steps: [],
  };
}

/** The model's attributes use the OpenInference convention. */
function fromAnotherConvention(asked: string, reply: string): Step {
  const request = chat({ asked, reply });
  const call = step("Compose the answer", 900, {
    "openinference.span.kind": "LLM",
    "llm.model_name": "mistral-small-latest",
    "llm.input_messages.0.message.role": "user",
    "llm.input_messages.0.message.content": asked,
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": reply,
    "llm.token_count.prompt": 590,
    "llm.token_count.completion": tokensIn(reply),
  });
  return { ...request, steps: [call] };
}

/** The span between the request and its tool never arrives. */
function lostOnTheWay(sample: Chat): Step {
  const request = chat(sample);
  return { ...request, steps: request.steps.with(1, { ...request.steps[1]!, lostParent: true }) };
}
