// Sample conversations of the travel agent, turn by turn, whose spans are written as OpenInference's instrumentations write them.
import { randomUUID } from "node:crypto";
import { type Attributes, type Step, step, tokensIn } from "../sample.ts";

type Call = { name: string; arguments: Attributes; result: unknown; failed?: string };
type Turn = { asked: string; reply: string; calls?: Call[] };
type Conversation = { id: string; user: string; model: string; turns: Turn[] };
type Message = { role: string; content?: string; calls?: (Call & { id: string })[]; callId?: string };

const instructions =
  "You are the travel agent of a small tour operator. Plan trips by train where you can, and quote prices in euros.";

/** One trace per turn; each has the conversation so far as the model's input. */
function conversation({ id, user, model, turns }: Conversation): Step[] {
  const ids = { "session.id": id, "user.id": user };
  const history: Message[] = [{ role: "system", content: instructions }];
  return turns.map(turn => {
    const asked: Message = { role: "user", content: turn.asked };
    const calls = (turn.calls ?? []).map((call, at) => ({
      ...call,
      id: `call_${id}_${history.length}_${at}`,
    }));
    const before = [...history, asked];
    const read = tokensOf(history);
    const steps: Step[] = [];
    if (calls.length > 0) {
      const calling: Message = { role: "assistant", calls };
      steps.push(modelCall(model, before, calling, read, ids));
      steps.push(...calls.map(call => toolCall(call, ids)));
      before.push(calling, ...calls.map(resultOf));
    }
    const reply: Message = { role: "assistant", content: turn.reply };
    steps.push(modelCall(model, before, reply, calls.length > 0 ? tokensOf([...history, asked]) : read, ids));
    history.push(...before.slice(history.length), reply);
    const said = { ...textOf("input", turn.asked), ...textOf("output", turn.reply) };
    return step("TravelAgent.run", 60, { ...kind("AGENT"), ...said, ...ids }, steps);
  });
}

/** `cached`: the tokens of the prompt that the provider has read before. */
function modelCall(model: string, input: Message[], output: Message, cached: number, ids: Attributes): Step {
  const [prompt, completion] = [tokensOf(input), tokensOf([output])];
  return step("ChatCompletion", 450 + 9 * completion, {
    ...kind("LLM"),
    "llm.system": "openai",
    "llm.provider": "openai",
    "llm.model_name": model,
    "llm.invocation_parameters": JSON.stringify({ model, temperature: 0.2 }),
    ...flattened("llm.input_messages", input),
    ...flattened("llm.output_messages", [output]),
    "llm.token_count.prompt": prompt,
    "llm.token_count.completion": completion,
    "llm.token_count.total": prompt + completion,
    "llm.token_count.prompt_details.cache_read": cached,
    ...ids,
  });
}

function toolCall({ name, arguments: given, result, failed }: Call, ids: Attributes): Step {
  const made = step(name, failed ? 2_000 : 180, {
    ...kind("TOOL"),
    "tool.name": name,
    ...jsonOf("input", given),
    ...(failed ? {} : jsonOf("output", result)),
    ...ids,
  });
  return failed ? { ...made, status: { code: 2, message: failed } } : made;
}

function resultOf({ id, result, failed }: Call & { id: string }): Message {
  return { role: "tool", callId: id, content: failed ?? JSON.stringify(result) };
}

const kind = (name: string): Attributes => ({ "openinference.span.kind": name });
const textOf = (side: "input" | "output", value: string): Attributes => ({
  [`${side}.value`]: value,
  [`${side}.mime_type`]: "text/plain",
});
const jsonOf = (side: "input" | "output", value: unknown): Attributes => ({
  [`${side}.value`]: JSON.stringify(value),
  [`${side}.mime_type`]: "application/json",
});

function flattened(prefix: string, messages: Message[]): Attributes {
  const attributes: Attributes = {};
  for (const [at, { role, content, calls = [], callId }] of messages.entries()) {
    const message = `${prefix}.${at}.message`;
    attributes[`${message}.role`] = role;
    if (content !== undefined) attributes[`${message}.content`] = content;
    if (callId !== undefined) attributes[`${message}.tool_call_id`] = callId;
    for (const [index, call] of calls.entries()) {
      const called = `${message}.tool_calls.${index}.tool_call`;
      attributes[`${called}.id`] = call.id;
      attributes[`${called}.function.name`] = call.name;
      attributes[`${called}.function.arguments`] = JSON.stringify(call.arguments);
    }
  }
  return attributes;
}

function tokensOf(messages: Message[]): number {
  const texts = messages.map(
    ({ content = "", calls = [] }) =>
      content + calls.map(call => call.name + JSON.stringify(call.arguments)).join(""),
  );
  return texts.reduce((sum, text) => sum + 4 + tokensIn(text), 0);
}

/** Of this start, so that the next one continues no conversation of it. */
const trips = `trip-${randomUUID().slice(0, 4)}`;

export const travelConversations: Step[] = [
  ...conversation({
    id: `${trips}-1`,
    user: "lena.moser",
    model: "gpt-4.1-mini",
    turns: [
      {
        asked: "I need to get from Zurich to Florence on May 14, arriving before dinner.",
        reply:
          "The 9:33 from Zurich arrives in Florence at 15:55, with one change in Milan, for €89. The next one arrives at 17:55 for €74.",
        calls: [
          {
            name: "find_trains",
            arguments: { from: "Zurich", to: "Florence", date: "2027-05-14", arrive_before: "19:00" },
            result: [
              { departs: "09:33", arrives: "15:55", changes: 1, price_eur: 89 },
              { departs: "11:33", arrives: "17:55", changes: 1, price_eur: 74 },
            ],
          },
        ],
      },
      {
        asked: "The later one is fine. And a quiet hotel near the station, two nights?",
        reply:
          "Casa Ruffini is eight minutes from the station, on a courtyard: €128 a night, breakfast included. Shall I hold a room?",
        calls: [
          {
            name: "find_hotels",
            arguments: { city: "Florence", near: "Santa Maria Novella", nights: 2, wishes: ["quiet"] },
            result: [{ name: "Casa Ruffini", walk_min: 8, price_eur: 128, breakfast: true }],
          },
        ],
      },
      {
        asked: "Yes please, and book the train.",
        reply: "Both are booked: train T-58213 for €74 and Casa Ruffini H-20977 for €256, €330 in all.",
        calls: [
          {
            name: "book_train",
            arguments: { departs: "11:33", date: "2027-05-14", travelers: 1 },
            result: { booking: "T-58213", price_eur: 74 },
          },
          {
            name: "book_hotel",
            arguments: { name: "Casa Ruffini", from: "2027-05-14", nights: 2 },
            result: { booking: "H-20977", price_eur: 256 },
          },
        ],
      },
    ],
  }),
  ...conversation({
    id: `${trips}-2`,
    user: "samuel.okafor",
    model: "gpt-4.1",
    turns: [
      {
        asked: "Where could we go with two small children for a week in February, not too far from Vienna?",
        reply:
          "Lake Hévíz in Hungary: warm thermal water, flat paths for a stroller, and three hours by car. Or Obertauern, if you would like snow.",
      },
      {
        asked: "Snow! What would a family apartment in Obertauern cost?",
        reply:
          "For four, from €980 a week in the first half of February; the Alpina has a playroom and a sauna.",
        calls: [
          {
            name: "find_hotels",
            arguments: { city: "Obertauern", guests: 4, nights: 7, month: "2027-02" },
            result: [{ name: "Alpina", price_eur: 980, playroom: true, sauna: true }],
          },
        ],
      },
    ],
  }),
  ...conversation({
    id: `${trips}-3`,
    user: "lena.moser",
    model: "gpt-4.1-mini",
    turns: [
      {
        asked: "Can I still cancel train T-58213?",
        reply: "Until two days before departure, for €8. After that the ticket cannot be refunded.",
        calls: [
          {
            name: "get_booking",
            arguments: { booking: "T-58213" },
            result: { booking: "T-58213", refundable_until: "2027-05-12", fee_eur: 8 },
          },
        ],
      },
      {
        asked: "Then cancel it, please.",
        reply:
          "I could not reach the railway's system just now, so T-58213 is still booked. Please try again later.",
        calls: [
          {
            name: "cancel_booking",
            arguments: { booking: "T-58213" },
            result: null,
            failed: "The booking system did not answer within 2 s.",
          },
        ],
      },
    ],
  }),
  ...conversation({
    id: `${trips}-4`,
    user: "chiara.bianchi",
    model: "gpt-4.1-mini",
    turns: [
      {
        asked: "What is the cheapest way from Bern to Lyon tomorrow morning?",
        reply: "The 7:34 by way of Geneva, $46, arriving at 11:26.",
        calls: [
          {
            name: "find_trains",
            arguments: { from: "Bern", to: "Lyon", date: "2027-03-02", depart_after: "06:00" },
            result: [{ departs: "07:34", arrives: "11:26", changes: 1, price_eur: 46 }],
          },
        ],
      },
      {
        asked: "Do I have to reserve a seat?",
        reply: "Only from Geneva on, where the TGV needs one: it is included in the €46.",
      },
      {
        asked: "And with a bicycle?",
        reply: "Folded and in a bag it travels free. A full-size bicycle is not taken on this TGV.",
      },
    ],
  }),
];
