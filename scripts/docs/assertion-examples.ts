// For every type of assertion: an assertion, a trace on which it passes, and one on which it fails.
import type { AssertionType } from "../../src/model/test-case/assertion.ts";

type ExampleSpan = { name: string; attributes: Record<string, unknown>; ms?: number };

export type Example = {
  /** What the check compares, in a sentence. */
  about: string;
  assertion: Record<string, unknown>;
  /** The spans of each trace; the first is the root. */
  passes: ExampleSpan[];
  fails: ExampleSpan[];
  /** Additional notes, listed below the fields. */
  notes?: string[];
};

const request = (attributes: Record<string, unknown>, ms?: number): ExampleSpan => ({
  name: "POST /chat",
  attributes,
  ...(ms === undefined ? {} : { ms }),
});
const reply = (text: string) => [request({ "gen_ai.response.text": text })];
const tool = (args: unknown): ExampleSpan => ({
  name: "execute_tool lookup_order",
  attributes: { "gen_ai.tool.name": "lookup_order", "gen_ai.tool.call.arguments": args },
});

export const examples: Record<AssertionType, Example> = {
  node_call: {
    about:
      "Counts the spans, except tool calls, whose name contains `expected_name`, ignoring case. Passes if the count is within `min` and `max`.",
    assertion: { type: "node_call", expected_name: "retrieve", max: 2 },
    passes: [request({}), { name: "Retrieve documents", attributes: {} }],
    fails: [request({}), { name: "Compose the answer", attributes: {} }],
    notes: ["A trace with only a root span has no steps to count: missing instrumentation."],
  },
  tool_call: {
    about:
      "Counts the tool calls with exactly this name whose arguments match. Passes if the count is within `min` and `max`.",
    assertion: {
      type: "tool_call",
      expected_name: "lookup_order",
      expected_arguments: { order: { $gt: 1000 }, region: "EU" },
    },
    passes: [request({}), tool({ order: 1042, region: "EU", verbose: true })],
    fails: [request({}), tool({ order: 7, region: "EU" })],
    notes: [
      'With `arguments_mode: "partial"` further arguments do not matter; with `"exact"` they do.',
      'Integers beyond ±(2^53−1) are kept as decimal text, in tests as in traces: `9007199254740993` is `"9007199254740993"`. `$gt`, `$gte`, `$lt` and `$lte` compare them exactly.',
      'In place of a value: `{"$regex"}`, `{"$in"}`, `{"$gt"}`, `{"$gte"}`, `{"$lt"}`, `{"$lte"}` or `{"$exists"}`. A text that is a number, such as `"5000"`, is compared as one by `$gt` and its like, and `$regex` reads a number as text.',
      'An object with such names as its own fields is written `{"$literal": {"$gt": 5}}`: nothing in it is an operator.',
      'To forbid a call: `"negate": true`, or `"min": 0, "max": 0`.',
      '`$gt`, `$gte`, `$lt` and `$lte` also compare a number that was sent as text, such as `"5000"`. Arguments sent as an empty text are `{}`.',
      "Arguments that are missing or cannot be read (cut-off JSON, Python's `repr`, JSON within JSON, a list, `{ args, kwargs }`) never match. With `negate` or `max`, the check is missing instrumentation if they could change its outcome.",
      "If messages after the user's last one show a call of the tool that is not among the trace's tool calls, the check is missing instrumentation, negated or not, unless that call could not change its outcome. So is a check of a trace that is a root span without messages.",
    ],
  },
  token_limit: {
    about: "Passes if no limit is exceeded. Set at least one.",
    assertion: { type: "token_limit", max_total: 4000, max_output: 500 },
    passes: [request({ "gen_ai.usage.input_tokens": 420, "gen_ai.usage.output_tokens": 80 })],
    fails: [request({ "gen_ai.usage.input_tokens": 420, "gen_ai.usage.output_tokens": 900 })],
    notes: [
      "If the trace has no token count for a limit, the result is missing instrumentation.",
      "The tokens are those of the root span, else the sum of the others. If a model call has no usable count to add, the check fails if the others exceed the limit already; otherwise it is missing instrumentation, and names the calls.",
    ],
  },
  http_status: {
    about:
      'Passes if the trace\'s HTTP status is the expected one, one of a list, or in a class such as `"2xx"`.',
    assertion: { type: "http_status", expected_status: "2xx" },
    passes: [request({ "http.response.status_code": 200 })],
    fails: [request({ "http.response.status_code": 500 })],
  },
  response_time: {
    about: "Passes if the trace took at most `max_ms` milliseconds, by its root span.",
    assertion: { type: "response_time", max_ms: 8000 },
    passes: [request({}, 1200)],
    fails: [request({}, 11740)],
  },
  response_regex: {
    about:
      "Passes if the pattern occurs anywhere in the reply, or in the text of the spans named by `target_node`.",
    assertion: { type: "response_regex", pattern: "\\bdelivered (on|by)\\b", flags: "i" },
    passes: reply("Your parcel will be delivered on Tuesday."),
    fails: reply("Your parcel is on its way."),
    notes: [
      "Flags: `i` ignores case, `m` lets `^` and `$` match at line ends, `s` lets `.` match line ends.",
      "`\\s` is any Unicode white space, such as a no-break space, and `i` ignores case in every script. `\\w`, `\\d` and `\\b` know ASCII only: `\\p{L}` is any letter, `\\p{N}` any digit. The editor warns where that matters.",
      "Invisible characters, such as a zero-width space, do not count, in the text or in the pattern. A pattern that names one, such as `\\u200B`, finds it.",
      "The engine takes linear time: it has no look-around and no back-references.",
      "Without a reply, the check is missing instrumentation; if the root span failed, it fails. An error below a root span that did not fail was handled.",
      'With `target_node`, one span that matches is enough; with `match: "all"`, each must. With `negate`, none may match, or with `match: "all"`, at least one must not.',
      "Where none may match or all must, a span without a text makes the check missing instrumentation, unless another span decides it.",
    ],
  },
  semantic: {
    about:
      "Passes if the judge's score of the reply reaches the threshold. Needs a [judge](judging.md); without one the check is skipped. See [semantic checks](test-cases.md#semantic-checks).",
    assertion: { type: "semantic", criteria: ["The reply names the day of delivery."] },
    passes: reply("It arrives on Tuesday."),
    fails: reply("It is on its way."),
    notes: [
      'With `target_node`, the text of each span must reach the threshold; with `match: "any"`, that of one is enough. With `negate`, none may reach it, or with `match: "all"`, at least one must not.',
    ],
  },
  json_match: {
    about:
      "Passes if a span whose name contains `target_node` has the attribute `field` with exactly this value. JSON text is compared parsed.",
    assertion: {
      type: "json_match",
      target_node: "post reply",
      field: "helpdesk.posted",
      expected_value: true,
    },
    passes: [request({}), { name: "Post reply", attributes: { "helpdesk.posted": true } }],
    fails: [request({}), { name: "Post reply", attributes: { "helpdesk.posted": false } }],
    notes: [
      "Fails if no span has that name, or none of them has the attribute.",
      'One span with this value is enough; with `match: "all"`, each that has the attribute must have it. With `negate`, none may, or with `match: "all"`, at least one must not.',
      "With `negate`, text that is not JSON is missing instrumentation, unless a text is expected or another span decides the check.",
    ],
  },
  json_schema: {
    about:
      "Passes if the JSON in the attribute `field` of all spans whose name contains `target_node` is valid by `schema` (draft 2020-12, or 7 by `$schema`).",
    assertion: {
      type: "json_schema",
      target_node: "classify",
      field: "workflow.output",
      schema: { type: "object", required: ["priority"], properties: { priority: { type: "integer" } } },
    },
    passes: [request({}), { name: "Classify ticket", attributes: { "workflow.output": '{"priority":2}' } }],
    fails: [
      request({}),
      { name: "Classify ticket", attributes: { "workflow.output": '{"priority":"high"}' } },
    ],
    notes: [
      'Each span that has the attribute must be valid; with `match: "any"`, one is enough. With `negate`, none may be valid, or with `match: "all"`, at least one must be invalid.',
      "Text that is not JSON is invalid. With `negate` it is missing instrumentation, unless another span decides the check.",
      "`$ref` can refer to places in the schema: `#/$defs/name`, an `$anchor`, or the schema's own `$id`. Other references are rejected when the test is saved.",
      "`pattern` and `patternProperties` run on a linear-time engine, as in `response_regex`: look-around and back-references are rejected when the test is saved. `\\s` and `\\S` are those of JavaScript.",
      'A schema in the wrapper of a model provider\'s request, such as `{ "name", "strict", "schema" }`, is taken out of it. Keywords and formats that JSON Schema does not know have no effect; the editor warns of them.',
      "Integers beyond ±(2^53−1) are integers. Where one is too close to a number of the schema to tell them apart, or `multipleOf` is to divide it, the check is skipped. In an attribute that is an object or a list, one is valid as an integer or as its text.",
    ],
  },
};
