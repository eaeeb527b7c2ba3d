// The trace that the benchmarks send: 12 spans of an agent's conversation, 27 KB, in JSON and in protobuf.
import { randomBytes } from "node:crypto";
import { encodeRequest } from "./protobuf.ts";

export type Format = "json" | "protobuf";

/** Makes bodies that differ in their trace id alone, by writing it into a copy of one template. */
export type BodyMaker = () => Buffer;

const spanCount = 12;
const syllables = "ba ce di fo gu la me ni po ru sa te vi zo an er in on st tr".split(" ");

export function bodyMaker(format: Format, serviceName: string): BodyMaker {
  return templated(format === "json" ? jsonTemplate(serviceName) : protobufTemplate(serviceName));
}

/** The same request as plain values, in the shape of OTLP JSON. */
export function exportRequest(serviceName: string, traceId: string, spans: object[]) {
  return {
    resourceSpans: [
      {
        resource: { attributes: [text("service.name", serviceName), text("host.name", "bench-1")] },
        scopeSpans: [
          { scope: { name: "bench", version: "1.0.0" }, spans: spans.map(span => ({ traceId, ...span })) },
        ],
      },
    ],
  };
}

/** Span number `index` of a trace; the first is the root. */
export function makeSpan(index: number, parentSpanId: string | undefined, spanId = idOf(index)) {
  const kind = index === 0 ? "root" : index % 3 === 0 ? "tool" : "chat";
  const start = 1_795_206_705_954_000_000n + BigInt(index) * 1_000_000n;
  return {
    spanId,
    ...(parentSpanId && { parentSpanId }),
    name:
      kind === "tool" ? "execute_tool lookup_order" : kind === "chat" ? "chat gpt-4o-mini" : "handle request",
    kind: 1,
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 900_000_000n),
    attributes: [...attributesOf[kind](index), text("bench.note", prose(index * 7 + 3, 40))],
    status: { code: 1 },
  };
}

const attributesOf = {
  root: () => [
    { key: "http.response.status_code", value: { intValue: "200" } },
    text("gen_ai.response.text", `Your order 1042 ships tomorrow. ${prose(5, 60)}`),
  ],
  tool: (index: number) => [
    text("gen_ai.operation.name", "execute_tool"),
    text("gen_ai.tool.name", "lookup_order"),
    text("gen_ai.tool.call.arguments", JSON.stringify({ order: 1042, note: prose(index, 15) })),
    text("gen_ai.tool.call.result", JSON.stringify({ status: "packed", history: prose(index + 1, 90) })),
  ],
  chat: (index: number) => [
    text("gen_ai.operation.name", "chat"),
    text("gen_ai.request.model", "gpt-4o-mini"),
    text(
      "gen_ai.input.messages",
      JSON.stringify([message("user", `Where is my order? ${prose(index, 110)}`)]),
    ),
    text(
      "gen_ai.output.messages",
      JSON.stringify([message("assistant", `It is packed. ${prose(index + 2, 90)}`)]),
    ),
    { key: "gen_ai.usage.input_tokens", value: { intValue: String(200 + index) } },
    { key: "gen_ai.usage.output_tokens", value: { intValue: String(40 + index) } },
  ],
};

const message = (role: string, content: string) => ({ role, parts: [{ type: "text", content }] });
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const idOf = (index: number) => (index + 1).toString(16).padStart(16, "0");

/** Text that compresses about as conversations do (to a third), the same on every run. */
function prose(seed: number, words: number): string {
  let state = seed * 2_654_435_761;
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  // Few words are frequent and many are rare.
  const word = () => {
    const rank = next(next(900) + 1);
    return [rank % 20, Math.floor(rank / 20) % 20, rank % 7].map(at => syllables[at]).join("");
  };
  return Array.from({ length: words }, word).join(" ");
}

const placeholder = "f00dfeedf00dfeedf00dfeedf00dfeed";

function jsonTemplate(serviceName: string): Template {
  const bytes = Buffer.from(JSON.stringify(templateRequest(serviceName)));
  return { bytes, places: placesOf(bytes, Buffer.from(placeholder)), hex: true };
}

function protobufTemplate(serviceName: string): Template {
  const bytes = encodeRequest(templateRequest(serviceName));
  return { bytes, places: placesOf(bytes, Buffer.from(placeholder, "hex")), hex: false };
}

function templateRequest(serviceName: string) {
  const spans = Array.from({ length: spanCount }, (_, index) =>
    makeSpan(index, index === 0 ? undefined : idOf(0)),
  );
  return exportRequest(serviceName, placeholder, spans);
}

type Template = { bytes: Buffer; places: number[]; hex: boolean };

function templated({ bytes, places, hex }: Template): BodyMaker {
  return () => {
    const body = Buffer.from(bytes);
    const id = randomBytes(16);
    const written = hex ? Buffer.from(id.toString("hex")) : id;
    for (const place of places) written.copy(body, place);
    return body;
  };
}

function placesOf(bytes: Buffer, sought: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(sought); at !== -1; at = bytes.indexOf(sought, at + 1)) places.push(at);
  return places;
}
