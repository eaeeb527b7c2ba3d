// Values of every kind that redaction finds, and traces and log records of both paths that have a text in every field.
import { exportOf, newSpanId } from "./bodies.ts";
import { logsOf, record } from "./log-records.ts";

/** `found`: what is searched for; no other text has it, and no encoder changes it. */
type Canary = { kind: string; said: string; found: string };

const canary = (kind: string, said: string, found: string): Canary => ({ kind, said, found });

/** One of each built-in rule, of each shape of a secret, and of the rule `order` below. */
export const canaries: Canary[] = [
  canary("email", "Write to canary.zq7@example.com today.", "canary.zq7"),
  canary("international email", "Write to canary.zq8@bücher.example today.", "canary.zq8"),
  canary("phone", "Call +1 415 555 2671 now.", "555 2671"),
  canary("card", "Pay with 4111 1111 1111 1111 please.", "4111 1111"),
  canary("iban", "Transfer to DE89 3704 0044 0532 0130 00 please.", "3704 0044"),
  canary("ip", "It came from 203.0.113.77 today.", "203.0.113.77"),
  canary("IPv6", "It came from 2001:db8::ca4a:77 today.", "ca4a:77"),
  canary("ssn", "My SSN is 123-45-6789 as you know.", "123-45-6789"),
  canary("sk-", "Use sk-canaryabcdefghij1234 for it.", "canaryabcdefghij"),
  canary("AKIA", "Use AKIACANARY7EXAMPLE2Q for it.", "CANARY7EXAMPLE"),
  canary("ghp_", "Use ghp_canaryGh0123456789abcdefghijklmnopqr for it.", "canaryGh0123"),
  canary("xoxb-", "Use xoxb-1234567890-canaryslack9ab8cd for it.", "canaryslack9"),
  canary(
    "JWT",
    "Use eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.sflKxwRJSMeKKF2QT4fwpMeJf36POk6yJVadQssw5c for it.",
    "sflKxwRJSMeKKF2Q",
  ),
  canary("Bearer", "Send Authorization: Bearer canaryBearer.a1b2c3d4e5f6 along.", "canaryBearer"),
  canary(
    "PEM",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQDcanaryPEM0\nq2w3e4r5t6y7u8i9o0p1\n-----END PRIVATE KEY-----",
    "DcanaryPEM0",
  ),
  canary("svc_", "Use svc_CanaryKeyA1b2C3d4E5f6G7h8J9k0LmNoPqRs for it.", "CanaryKeyA1b2"),
  canary("ASIA", "Use ASIACANARY7EXAMPLE3R for it.", "ASIACANARY7"),
  canary("AIza", "Use AIzaCanaryGoogle0123456789abcdefghijklm for it.", "AIzaCanary"),
  canary("github_pat_", "Use github_pat_Canary0Pat0123456789ab for it.", "Canary0Pat0"),
  canary("gho_", "Use gho_canaryGo0123456789abcdefghijklmnopqr for it.", "canaryGo0123"),
  canary("xapp-", "Use xapp-1-CANARYAPP-1234567890 for it.", "CANARYAPP"),
  canary("sk_live_", "Use sk_live_canaryStripe0123456789 for it.", "canaryStripe0"),
  canary("whsec_", "Use whsec_canaryHook0123456789abcd for it.", "canaryHook0"),
  canary("glpat-", "Use glpat-canaryLab0123456789abc for it.", "canaryLab0"),
  canary("npm_", "Use npm_canaryNpm0123456789abcdefghijklmnopqr for it.", "canaryNpm0"),
  canary("hf_", "Use hf_canaryFace0123456789abcdefghijklmn for it.", "canaryFace0"),
  canary("gsk_", "Use gsk_canaryGroq0123456789abcdefghijklmnopqrstuvwx for it.", "canaryGroq0"),
  canary("Basic", "Send Authorization: Basic Y2FuYXJ5QmFzaWM6cGFzczEy along.", "Y2FuYXJ5QmFz"),
  canary("password=", "Set password=Canary_Pass9x there.", "Canary_Pass9x"),
  canary("password in a URL", "Open postgres://app:Canary-Url9x@db.internal/app there.", "Canary-Url9x"),
  canary("api_key=", "Set api_key=canaryq8f3b2c19d7e6f501234 there.", "canaryq8f3b2"),
  canary("own rule", "My order is ZQ-8812345 again.", "ZQ-8812345"),
];

/** The settings that find all of them. */
export const canaryRules = {
  builtIn: ["*"],
  rules: [{ name: "order", pattern: "ZQ-\\d{7}" }],
  pseudonyms: ["customer.number"],
};

/** A text of all of them. */
export const everyCanary = canaries.map(({ said }) => said).join(" ");

/** Ids: an email, a phone number, and any value of an attribute in `pseudonyms`. */
const canaryIds = {
  user: "canary.id9@example.com",
  conversation: "+1 415 555 2672",
  customer: 47_110_047_110,
};

/** What must be nowhere. */
export const sought = [...canaries.map(({ found }) => found), "canary.id9", "555 2672", "47110047110"];

/** What stays as sent: keys, names and identity. */
export const staying = {
  key: "canary.key@example.com",
  spanName: "canary.span@example.com",
  eventName: "canary.event@example.com",
  scopeName: "canary.scope@example.com",
  request: "canary.request@example.com",
};

const inJson = (value: unknown, levels: number): string =>
  levels === 1 ? JSON.stringify(value) : JSON.stringify({ inner: inJson(value, levels - 1) });

/** One letter escaped, as encoders do it only on request. */
const escaped = (text: string) =>
  JSON.stringify({ text }).replaceAll("@", "\\u0040").replaceAll("c", "\\u0063");

const messages = (role: string, text: string) => [{ role, parts: [{ type: "text", content: text }] }];

/** Attributes that have the text in every shape of a value. */
function attributesWith(text: string): Record<string, unknown> {
  return {
    "gen_ai.request.model": "m-1",
    "gen_ai.prompt": text,
    "gen_ai.response.text": text,
    "gen_ai.input.messages": JSON.stringify(messages("user", text)),
    "gen_ai.output.messages": messages("assistant", text),
    "gen_ai.system_instructions": [{ type: "text", content: text }],
    "app.text": text,
    "app.list": [text, [text]],
    ...(text === everyCanary && { "app.alone": canaries.map(({ said }) => said) }),
    "app.object": { [staying.key]: text, deep: { list: [{ text }] } },
    "app.json": JSON.stringify({ text, list: [text], n: 7 }),
    "app.escaped": escaped(text),
    "app.nested": inJson(text, 4),
    "app.deepest": inJson(text, 8),
    "app.cut": JSON.stringify({ text }).slice(0, -1),
    [staying.key]: text,
    "http.request.header.authorization": ["Bearer canaryBearer.0a1b2c3d4e"],
    "db.password": "Canary_Pass9x!",
  };
}

const idAttributes = {
  "http.response.status_code": 500,
  "user.id": canaryIds.user,
  "session.id": canaryIds.conversation,
  "langfuse.user.id": canaryIds.user,
  "traceloop.association.properties.user_id": canaryIds.user,
  "customer.number": canaryIds.customer,
};

/** A canonical body with the text in every field that has content, and the ids. */
export function canonicalWith(agentId: string, text: string): object {
  return {
    platformId: agentId,
    metadata: { ...attributesWith(text), user_id: canaryIds.user },
    spans: [
      {
        span_id: "root",
        name: staying.spanName,
        start_time_unix_nano: "1700000000000000000",
        end_time_unix_nano: "1700000001000000000",
        attributes: { ...attributesWith(text), ...idAttributes },
        status: { code: 2, message: text },
        events: [
          { name: staying.eventName, attributes: attributesWith(text) },
          { name: "exception", time_unix_nano: "1700000000000000001", body: text, more: [{ text }] },
          { name: "timed", timestamp: text, time: [text] },
          text,
          [text, { text }],
        ],
      },
      {
        span_id: "tool",
        parent_span_id: "root",
        name: "look up",
        attributes: {
          "gen_ai.tool.name": "lookup",
          "gen_ai.tool.call.arguments": JSON.stringify({ query: text }),
          "gen_ai.tool.call.result": { rows: [text] },
        },
        events: [],
      },
    ],
  };
}

type Any = Record<string, unknown>;

/** The OTLP form of attributes. */
function otlpAttributes(attributes: Record<string, unknown>): Any[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: unknown): Any {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "number") return { intValue: String(value) };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: otlpAttributes(value as Record<string, unknown>) } };
}

/** An OTLP export with the text in every field that has content: a root of this id and a tool. */
export function exportedWith(
  text: string,
  { traceId, spanId, service }: { traceId: string; spanId: string; service: string },
) {
  const times = { startTimeUnixNano: "1700000000000000000", endTimeUnixNano: "1700000001000000000" };
  const attributes = otlpAttributes({ ...attributesWith(text), ...idAttributes });
  const body = exportOf(
    [
      {
        ...{ traceId, spanId, name: staying.spanName, ...times, attributes },
        traceState: `vendor=${text.replaceAll("\n", " ")}`,
        events: [
          {
            name: staying.eventName,
            timeUnixNano: "1700000000000000001",
            attributes: otlpAttributes(attributesWith(text)),
          },
        ],
        links: [
          {
            traceId,
            spanId: newSpanId(),
            traceState: `vendor=${text.replaceAll("\n", " ")}`,
            attributes: otlpAttributes({ text }),
          },
        ],
        status: { code: 2, message: text },
      },
      {
        ...{ traceId, spanId: newSpanId(), parentSpanId: spanId, name: "look up", ...times },
        attributes: otlpAttributes({
          "gen_ai.tool.name": "lookup",
          "gen_ai.tool.call.arguments": JSON.stringify({ query: text }),
          "gen_ai.tool.call.result": text,
        }),
      },
    ],
    service,
  ) as { resourceSpans: { resource: { attributes: Any[] }; scopeSpans: Any[] }[] };
  const [first] = body.resourceSpans;
  first!.resource.attributes.push(...otlpAttributes({ "host.note": text, "process.command_args": [text] }));
  first!.scopeSpans[0]!["scope"] = {
    name: staying.scopeName,
    attributes: otlpAttributes(attributesWith(text)),
  };
  return body;
}

/** Log records about the span that have the text in bodies and attributes. */
export function recordsWith(
  text: string,
  about: { traceId: string; spanId: string; service: string },
  at: number,
): object {
  const { traceId, spanId, service } = about;
  const of = (eventName: string, more: Any, offset: number) =>
    record({ traceId, spanId, eventName, timeUnixNano: String(at + offset), ...more });
  const kvlist = (fields: Record<string, unknown>) => ({
    kvlistValue: { values: otlpAttributes(fields) },
  });
  const body = logsOf(
    [
      of("gen_ai.user.message", { body: kvlist({ content: text, "user.id": canaryIds.user }) }, 0),
      of("gen_ai.choice", { body: kvlist({ message: { role: "assistant", content: text } }) }, 1),
      of("gen_ai.tool.message", { body: kvlist({ content: JSON.stringify({ text }), id: "1" }) }, 2),
      of(
        "gen_ai.client.inference.operation.details",
        {
          attributes: otlpAttributes({
            "gen_ai.input.messages": JSON.stringify(messages("user", text)),
            "gen_ai.output.messages": messages("assistant", text),
            ...attributesWith(text),
            ...idAttributes,
          }),
        },
        3,
      ),
    ],
    service,
  ) as { resourceLogs: { resource: { attributes: Any[] } }[] };
  body.resourceLogs[0]!.resource.attributes.push(...otlpAttributes({ "host.note": text }));
  return body;
}
