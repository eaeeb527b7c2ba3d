// The bodies that mutants are made from: what exporters really sent, as recorded for the tests, and canonical traces of it.
import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { decodeBody } from "../src/wire/body.ts";
import { decodeLimits } from "../src/wire/limits.ts";
import { type Tree, treeOf } from "./json-tree.ts";
import { type Message, messageOf, schemas } from "./protobuf-tree.ts";

export type Endpoint = "traces" | "logs";
export type Seed<T> = { name: string; endpoint: Endpoint; body: T };

/** The service name in every seed, so that a service with such an agent stores what is not refused. */
export const serviceName = "fuzz";

const folder = new URL("../test/fixtures/otlp/", import.meta.url);
// Larger bodies cost the time of many others.
const bytesMax = 64 * 1024;

export type Seeds = {
  canonical: Seed<Tree>[];
  otlpJson: Seed<Tree>[];
  protobuf: Seed<Message>[];
};

export function readSeeds(): Seeds {
  const bodies = fixtures();
  const json = bodies.filter(({ name }) => name.endsWith(".json"));
  return {
    canonical: [
      ...json.filter(({ endpoint }) => endpoint === "traces").flatMap(canonicalOf),
      ...handMade.map((body, at) => ({
        name: `hand-made ${at}`,
        endpoint: "traces" as const,
        body: treeOf(body),
      })),
    ],
    otlpJson: json.map(({ body, ...seed }) => ({
      ...seed,
      body: treeOf(renamed(JSON.parse(body.toString()))),
    })),
    protobuf: bodies
      .filter(({ name }) => name.endsWith(".pb"))
      .map(({ body, ...seed }) => ({
        ...seed,
        body: renamedMessage(messageOf(body, schemas[seed.endpoint])),
      })),
  };
}

function fixtures(): Seed<Buffer>[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .toSorted()
    .filter(path => /\.(json|pb)(\.gz)?$/.test(path) && !path.endsWith("expected.json"))
    .map((path): Seed<Buffer> => {
      const bytes = readFileSync(new URL(path, folder));
      const endpoint = path.includes(".logs.") ? "logs" : "traces";
      return {
        name: path.replace(/\.gz$/, ""),
        endpoint,
        body: path.endsWith(".gz") ? gunzipSync(bytes) : bytes,
      };
    })
    .filter(({ body }) => body.length <= bytesMax);
}

function canonicalOf({ name, body }: Seed<Buffer>): Seed<Tree>[] {
  const decoded = decodeBody(body, "json", decodeLimits);
  if (decoded.path !== "otlp") return [];
  return decoded.groups.flatMap(({ batch }, at) =>
    batch.spans.length === 0
      ? []
      : [{ name: `${name} trace ${at}`, endpoint: "traces" as const, body: treeOf({ spans: batch.spans }) }],
  );
}

const handMade = [
  { spans: [{ span_id: "a", name: "step" }] },
  {
    spans: [
      {
        span_id: "root",
        parent_span_id: null,
        name: "answer",
        attributes: {
          "gen_ai.prompt": "Where is my order?",
          "gen_ai.response.text": "It ships tomorrow.",
          "http.response.status_code": 200,
          list: [1, 2.5, { a: null }],
        },
        start_time_unix_nano: "1795206705954000000",
        end_time_unix_nano: "1795206706954000000",
        status: { code: 2, message: "m" },
        events: [{ name: "exception", attributes: { "exception.message": "boom" } }],
      },
      {
        span_id: "tool",
        parent_span_id: "root",
        name: "look up",
        attributes: { "gen_ai.tool.name": "look_up", "gen_ai.tool.call.arguments": '{"id":"A-1"}' },
      },
      { span_id: "loop", parent_span_id: "loop", name: "its own parent", attributes: {} },
      { span_id: "orphan", parent_span_id: "nobody", name: "orphan", events: [] },
    ],
    metadata: { team: "shop", svc: { other: 1 }, "user.id": "u-1" },
  },
];

type Attribute = { key?: unknown; value?: unknown };

// biome-ignore lint/suspicious/noExplicitAny: recorded requests, whose shape is known.
function renamed(request: any): unknown {
  for (const { resource } of [...(request.resourceSpans ?? []), ...(request.resourceLogs ?? [])]) {
    for (const attribute of (resource?.attributes ?? []) as Attribute[])
      if (attribute.key === "service.name") attribute.value = { stringValue: serviceName };
  }
  return request;
}

function renamedMessage(request: Message): Message {
  const named: Message = { fields: [{ number: 1, wire: 2, payload: Buffer.from(serviceName) }] };
  for (const { payload: entry } of request.fields) {
    for (const { number, payload: resource } of fieldsOf(entry)) {
      if (number !== 1) continue;
      for (const { payload: attribute } of fieldsOf(resource)) {
        const [key, value] = fieldsOf(attribute);
        if (value && Buffer.isBuffer(key?.payload) && key.payload.toString() === "service.name")
          value.payload = named;
      }
    }
  }
  return request;
}

function fieldsOf(payload: Buffer | Message): Message["fields"] {
  return Buffer.isBuffer(payload) ? [] : payload.fields;
}
