// The keys, texts and numbers that JSON mutants get: those that the service reads, and those that break parsers and databases.
import type { Random } from "./random.ts";

const quoted = (value: string) => JSON.stringify(value);

/** Attributes that a trace's page, lists or redaction read. */
export const attributeKeys = [
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.response.text",
  "gen_ai.prompt",
  "gen_ai.system",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "gen_ai.operation.name",
  "gen_ai.usage.input_tokens",
  "gen_ai.usage.output_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "gen_ai.tool.name",
  "gen_ai.tool.call.id",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "gen_ai.conversation.id",
  "gen_ai.prompt.0.content",
  "gen_ai.completion.99999999.content",
  "gen_ai.completion.0.tool_calls.0.arguments",
  "llm.input_messages.0.message.content",
  "llm.token_count.prompt",
  "ai.prompt.messages",
  "ai.usage.promptTokens",
  "traceloop.entity.input",
  "input.value",
  "output.value",
  "openinference.span.kind",
  "http.response.status_code",
  "session.id",
  "user.id",
  "service.name",
  "exception.message",
];

const fieldKeys = [
  ...["spans", "resourceSpans", "scopeSpans", "resource", "scope", "attributes", "events", "links"],
  ...["key", "value", "stringValue", "intValue", "doubleValue", "boolValue", "arrayValue", "kvlistValue"],
  ...["bytesValue", "values", "span_id", "parent_span_id", "spanId", "parentSpanId", "traceId", "name"],
  ...["status", "code", "message", "kind", "startTimeUnixNano", "endTimeUnixNano", "start_time_unix_nano"],
  ...["end_time_unix_nano", "timeUnixNano", "metadata", "platformId", "svc.platform_id", "svc", "schemaUrl"],
  ...["droppedAttributesCount", "traceState", "flags", "resourceLogs", "scopeLogs", "logRecords", "body"],
  ...["eventName", "severityNumber", "observedTimeUnixNano", "role", "parts", "content", "type", "arguments"],
];

/** Texts of keys that JavaScript, JSON or V8 treat in a way of their own. */
const oddKeys = [
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "toJSON", "length"],
  ...["", " ", "0", "1000", "4294967295", "4294967294", "-1", "a.b", "a[0]", "*", "$ref", "%s", "'", "then"],
  ...["\u0000", "\ufeff", "\u2028", "é", "😀", "K", "ı"],
].map(quoted);

const escapedKeys = [
  '"\\u0073pans"',
  '"\\ud800"',
  '"sp\\u0061ns"',
  '"\\u0000a"',
  '"a\\/b"',
  '"\\uD83D\\uDE00"',
];

/** A key as JSON text, with its quotes. */
export function keyText(random: Random): string {
  const choice = random.below(10);
  if (choice < 4) return quoted(random.pick(fieldKeys));
  if (choice < 7) return quoted(random.pick(attributeKeys));
  if (choice < 9) return random.pick(random.chance(0.7) ? oddKeys : escapedKeys);
  return `"${"k".repeat(random.size(20_000))}"`;
}

const numbers = [
  ...["0", "-0", "1", "-1", "0.1", "1e0", "1E+2", "1e400", "-1e400", "1e-400", "1e308", "5e-324", "1e21"],
  ...["9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993", "2147483648"],
  ...["4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775808"],
  ...["18446744073709551615", "18446744073709551616", "1.7976931348623157e308", "0.30000000000000004"],
  ...[
    "1234567890123456789012345678901234567890",
    "99999999999999999999.5",
    "1e1000000",
    "-1.5E-7",
    "200",
    "599",
  ],
];

const wrongNumbers = ["01", "+1", "1.", ".5", "NaN", "Infinity", "0x10", "1e", "--1", "1_000", "١"];

const texts = [
  ...["", " ", "x", "null", "true", "0", "-1", "1e3", "NaN", "Infinity", "-Infinity", "0x10", "007"],
  ...["18446744073709551615", "18446744073709551616", "9223372036854775808", "1795206705954000000", "1.5"],
  ...["0000000000000000", "00000000000000000000000000000000", "b7ad6b7169203331", "B7AD6B7169203331"],
  ...["0af7651916cd43dd8448eb211c80319c", "t61rcWkgMzE=", "SPAN_KIND_CLIENT", "STATUS_CODE_ERROR", "user"],
  ...["assistant", "execute_tool", "invoke_agent", "chat", "fuzz", "ünïcödé 😀", "\u0000", "a\u0000b"],
  ...["\ufeff", "\u202e", "\u2028", "<script>alert(1)</script>", "'; drop table traces; --", "%00"],
  ...["jane.doe@example.com", "4111 1111 1111 1111", "+1 (415) 555-0132", "DE89370400440532013000"],
  ...["192.168.0.1", "::ffff:10.0.0.1", "078-05-1120", "sk-proj-abcdefghijklmnopqrstuvwx0123456789"],
  ...["Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJlc2lnbmF0dXJl", "password=hunter2hunter2"],
].map(quoted);

const escapedTexts = [
  ...['"\\ud800"', '"\\udc00\\ud800"', '"a\\ud83d"', '"\\u0000"', '"\\u0022\\u005c"', '"\\/"', '"\\b\\f"'],
  ...['"\\ud83d\\ude00"', '"jane\\u0040example.com"', '"\\u006aane@ex\\u0061mple.com"', '"\\uFFFF"'],
];

const wrongTexts = ['"\\x41"', '"\\u12"', '"\n"', '"\t"', '"unterminated', "'single'", '"\\ud8', "undefined"];

const messageTexts = [
  '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
  '[{"role":"user","content":"hi"},{"role":"assistant","content":null}]',
  '[{"role":"assistant","parts":[null,{"type":"tool_call","name":"t","arguments":"{\\"a\\":1"}]}]',
  '{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{}}]}',
  '[{"role":"tool","parts":[{"type":"tool_call_response","id":null,"response":{"a":[[]]}}]}]',
  ...["[", "[[[[", "{}", "[]", "[null]", '"text"', '{"a":', "[1,2,3]", '{"__proto__":{"polluted":1}}'],
  ...['[{"role":"","parts":{}}]', '[{"role":5}]', "[{}]", '{"messages":[{"role":"user"}]}', "nul"],
  "{'role': 'user', 'content': 'repr'}",
];

/** JSON in a text, in JSON, up to eight levels deep, sometimes cut off. */
function nestedText(random: Random): string {
  let text = random.pick(messageTexts);
  for (let level = random.below(8); level > 0 && text.length < 20_000; level--)
    text = JSON.stringify({ content: text });
  if (random.chance(0.2)) text = text.slice(0, random.below(text.length + 1));
  return quoted(text);
}

/** One of a few characters, many times; rarely a megabyte. */
function longText(random: Random): string {
  const part = random.pick([
    "x",
    "é",
    "😀",
    "\\u0000",
    "\\\\",
    "[",
    '{\\"a\\":',
    "@",
    "1",
    "4111 ",
    "a@b.co ",
    " ",
  ]);
  return `"${part.repeat(Math.ceil(random.size(random.chance(0.005) ? 1_000_000 : 4_000) / part.length))}"`;
}

/** A text value as JSON text. */
export function stringText(random: Random): string {
  const choice = random.below(20);
  if (choice < 10) return random.pick(texts);
  if (choice < 13) return random.pick(escapedTexts);
  if (choice < 16) return nestedText(random);
  if (choice < 19) return longText(random);
  return random.chance(0.2) ? random.pick(wrongTexts) : quoted(random.pick(attributeKeys));
}

export function numberText(random: Random): string {
  const choice = random.below(40);
  if (choice === 0) return random.pick(wrongNumbers);
  if (choice === 1) return "9".repeat(random.size(5_000));
  if (choice === 2) return `0.${"3".repeat(random.size(5_000))}`;
  return random.pick(numbers);
}

export function scalarText(random: Random): string {
  const choice = random.below(8);
  if (choice < 4) return stringText(random);
  if (choice < 6) return numberText(random);
  return random.pick([
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "[[]]",
    "[null]",
    '{"a":{}}',
    '{"stringValue":"x"}',
  ]);
}
