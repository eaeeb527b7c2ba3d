// The sandbox answers every question, and stops those that would never end.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { RunBudget } from "../../../src/model/run/budget.ts";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import type { SandboxAnswer } from "../../../src/model/sandbox.ts";
import { Sandbox, type SandboxCaller } from "../../../src/remote/sandbox/sandbox.ts";

/** For answers: no question takes long, however busy the machine is. */
const sandbox = new Sandbox({ budgetMs: 10_000 });
after(() => sandbox.close());

function caller(agentId = "agent", accountId = agentId): SandboxCaller {
  return { accountId, agentId, budget: new RunBudget() };
}

function validate(
  schema: unknown,
  value: string,
  by = sandbox,
  signal?: AbortSignal,
): Promise<SandboxAnswer> {
  return by.answer({ kind: "schema", schema: JSON.stringify(schema), value }, caller(), signal);
}

/** Doubles the work at each level. */
function exponential(levels: number): object {
  const $defs: Record<string, object> = { d0: { type: "string" } };
  for (let at = 1; at <= levels; at++) {
    const reference = { $ref: `#/properties/a/$defs/d${at - 1}` };
    $defs[`d${at}`] = { anyOf: [reference, reference] };
  }
  return { $defs, $ref: `#/properties/a/$defs/d${levels}` };
}

/** Takes years where `a` is a number, and nothing where it is absent. */
const endless = { properties: { a: exponential(40) } };
const slowValue = '{"a":5}';

suite("schemas", () => {
  const draft7 = "http://json-schema.org/draft-07/schema#";
  const cases: [name: string, schema: unknown, value: string, holds: boolean][] = [
    ["an object", { type: "object", required: ["a"] }, '{"a":1}', true],
    ["a missing property", { type: "object", required: ["a"] }, "{}", false],
    [
      "names with lone surrogates",
      { properties: { "a\ud83d": { type: "string" } }, additionalProperties: { type: "number" } },
      String.raw`{"a\ud83d":"b","\udc00":1}`,
      true,
    ],
    [
      "a name with a lone surrogate that is not allowed",
      { propertyNames: { maxLength: 1 } },
      String.raw`{"a\ud83d":1}`,
      false,
    ],
    ["true", true, "5", true],
    ["false", false, "5", false],
    ["what is no JSON", true, "{a", false],
    ["a bare text", { type: "string" }, "hello", false],
    ["prefix items of 2020-12", { prefixItems: [{ type: "string" }] }, "[1]", false],
    ["a list of items in draft 7", { $schema: draft7, items: [{ type: "string" }] }, "[1]", false],
    [
      "keywords in draft 7 that it does not know",
      {
        $schema: draft7,
        properties: {
          list: { prefixItems: [{ type: "string" }], unevaluatedItems: false, contains: {}, minContains: 2 },
          prefixItems: { maxContains: 0, contains: {} },
        },
        dependentRequired: { list: ["other"] },
        dependentSchemas: { list: false },
        unevaluatedProperties: false,
        required: ["prefixItems"],
      },
      '{"list":[1],"prefixItems":[1],"more":1}',
      true,
    ],
    [
      "properties of draft 7 that are named as keywords of 2020-12",
      { $schema: draft7, properties: { prefixItems: { type: "string" } } },
      '{"prefixItems":1}',
      false,
    ],
    [
      "keywords beside $ref in draft 7",
      { $schema: draft7, $ref: "#/definitions/a", type: "string", definitions: { a: {} } },
      "1",
      true,
    ],
    ["keywords beside $ref in 2020-12", { $ref: "#/$defs/a", type: "string", $defs: { a: {} } }, "1", false],
    [
      "recursion",
      { properties: { next: { $ref: "#" } }, required: ["id"] },
      '{"id":1,"next":{"id":2}}',
      true,
    ],
    ["a large integer", { type: "integer", minimum: 1 }, "9007199254740993", true],
    ["a large integer over the limit", { maximum: "9007199254740992" }, "9007199254740994", false],
    ["a large integer at the limit", { maximum: "9007199254740993" }, "9007199254740993", true],
    ["a large integer under the limit", { maximum: "9223372036854775807" }, "9223372036854774000", true],
    ["the same large integer", { type: "integer", const: "9007199254740993" }, "9007199254740993", true],
    ["the text of a large integer", { enum: ["9007199254740993"] }, '"9007199254740993"', true],
    ["__proto__ as a property", { required: ["__proto__"] }, '{"__proto__":1}', true],
  ];
  for (const [name, schema, value, holds] of cases) {
    test(`${name}: ${holds ? "valid" : "not valid"}`, async () => {
      const answer = await validate(schema, value);
      assert.equal(answer.state, "ok");
      assert.equal(answer.state === "ok" && answer.holds, holds);
      assert.equal(answer.state === "ok" && answer.faults.length > 0, !holds);
    });
  }

  for (const schema of [
    { maximum: "9007199254740992" },
    { maximum: 9007199254740992 },
    { items: { exclusiveMinimum: "9007199254740992" } },
    { const: "9007199254740992" },
    { multipleOf: 2 },
  ]) {
    test(`too large to compare with ${JSON.stringify(schema)}`, async () => {
      const value = "items" in schema ? "[9007199254740993]" : "9007199254740993";
      assert.equal((await validate(schema, value)).state, "unavailable");
    });
  }

  test("the first fault is the innermost, with its path", async () => {
    const schema = { properties: { a: { items: { type: "integer" } } } };
    const answer = await validate(schema, '{"a":[1,"x"]}');
    assert.match(answer.state === "ok" ? answer.faults[0]! : "", /^a\/1: .*integer/);
  });

  for (const [schema, value, fault] of [
    [{ type: ["integer", "null"] }, '"x"', "value: Expected integer or null, found string."],
    [{ properties: { a: { enum: [1, "b"] } } }, '{"a":2}', 'a: Must be one of 1, "b".'],
    [{ required: ["a", "b", "c"] }, '{"b":1}', 'value: Missing: "a", "c".'],
    [{ additionalProperties: false }, '{"a/b":1}', "a/b: Is not allowed here."],
    [{ items: { $ref: "#/$defs/é" }, $defs: { é: { minimum: 3 } } }, "[4,2]", "1: Must be at least 3."],
    [{ pattern: "^a" }, '"b"', 'value: Must match the pattern "^a".'],
    [{ format: "date" }, '"b"', 'value: Must have the format "date".'],
    [{ anyOf: [{ type: "null" }, { const: { a: 1 } }] }, "2", 'value: Must be {"a":1}.'],
    [{ not: {} }, "2", "value: Must not match the schema in not."],
    [{ maximum: "9007199254740993" }, "1e17", "value: Must be at most 9007199254740993."],
    [{ const: "9007199254740993" }, "2", 'value: Must be one of "9007199254740993".'],
    [{ const: "a".repeat(300) }, "2", `value: Must be "${"a".repeat(198)}…`],
    [{ uniqueItems: true }, "[1,1]", "value: Has the same item twice."],
  ] as const) {
    test(`${value} by ${JSON.stringify(schema)}: ${fault}`, async () => {
      const answer = await validate(schema, value);
      assert.equal(answer.state === "ok" && answer.faults[0], fault);
    });
  }

  test("each question gets its own answer", async () => {
    const values = Array.from({ length: 200 }, (_, at) => at);
    const answers = await Promise.all(values.map(at => validate({ const: 7 }, String(at))));
    assert.deepEqual(
      answers.flatMap((answer, at) => (answer.state === "ok" && answer.holds ? [at] : [])),
      [7],
    );
  });
});

test("no error of a schema repeats a text of the value, so none can hold what was redacted", async () => {
  const value = JSON.stringify({ a: "[email]", b: ["[email]", "[email]"], c: { d: "[email]" } });
  const text = { not: { type: "string" } };
  const schemas: object[] = [
    { type: "array" },
    ...[{ type: "integer" }, { const: 1 }, { enum: [1, 2] }, { pattern: "^x" }, { format: "email" }].map(
      a => ({
        properties: { a, b: { items: a }, c: { properties: { d: a } } },
      }),
    ),
    ...[text, { maxLength: 1 }, { minLength: 99 }, { anyOf: [{ type: "null" }] }].map(a => ({
      properties: { a },
    })),
    { properties: { b: { uniqueItems: true } } },
    { properties: { b: { contains: { type: "null" } } } },
    { properties: { c: { additionalProperties: false } } },
    { properties: { c: { required: ["e"], dependentRequired: { d: ["f"] } } } },
    { properties: { c: { propertyNames: { maxLength: 0 } } } },
    { oneOf: [true, true] },
  ];
  for (const schema of schemas) {
    const answer = await validate(schema, value);
    assert.ok(answer.state === "ok" && !answer.holds, JSON.stringify(schema));
    assert.ok(answer.faults.length > 0 && !answer.faults.join().includes("[email]"), answer.faults.join());
  }
  const bare = await validate({ type: "string" }, "[email]");
  assert.ok(bare.state === "ok" && bare.faults.length > 0 && !bare.faults.join().includes("[email]"));
});

test("a pattern is searched with its flags", async () => {
  const ask = (flags: string) =>
    sandbox.answer({ kind: "pattern", pattern: "^B", flags, text: "a\nb" }, caller());
  assert.deepEqual(await ask("im"), { state: "ok", holds: true, faults: [] });
  assert.deepEqual(await ask("i"), { state: "ok", holds: false, faults: [] });
});

suite("patterns of schemas", () => {
  const catastrophic = `${"a".repeat(50_000)}!`;
  for (const [name, schema, value, holds] of [
    ["a pattern that backtracks for years", { pattern: "^(a+)+$" }, catastrophic, false],
    [
      "a property pattern that does",
      { patternProperties: { "^(a+)+$": false } },
      { [catastrophic]: 1 },
      true,
    ],
    ["a format that does", { format: "url" }, `http://${"a".repeat(60)}`, true],
    ["a pattern with a Unicode escape", { pattern: "^\\ud83d\\ude00\\u00e9$" }, "😀é", true],
    ["a property pattern", { patternProperties: { "^x-": { type: "number" } } }, { "x-a": "1" }, false],
    [
      "what a property pattern matches is no additional property",
      { patternProperties: { "^x-": {} }, additionalProperties: false },
      { "x-a": 1 },
      true,
    ],
    ["an empty pattern", { pattern: "" }, "a", true],
    ["white space as ECMA-262 has it", { pattern: "^\\S+$" }, "10\u00a0km", false],
    ["an invisible character, as it is", { pattern: "^re\u200bfund$" }, "refund", false],
    ["the format regex", { format: "regex" }, "^(?!x)", true],
    ["a value that is no regular expression", { format: "regex" }, "(", false],
    ["the format date-time", { format: "date-time" }, "2026-02-30T00:00:00Z", false],
  ] as const) {
    test(`${name}: ${holds ? "valid" : "not valid"}`, async () => {
      const answer = await validate(schema, JSON.stringify(value));
      assert.equal(answer.state === "ok" && answer.holds, holds, JSON.stringify(answer));
    });
  }

  test("a schema that was saved with a look-ahead says what is not supported", async () => {
    const { state, ...answer } = await validate({ pattern: "^(?!x)" }, '"a"');
    assert.equal(state, "unavailable");
    assert.match(
      "reason" in answer ? reasonText(answer.reason) : "",
      /^This could not be checked: Look-around/,
    );
  });
});

suite("references", () => {
  const type = { type: "string" };
  for (const [name, schema] of [
    ["a pointer", { $ref: "#/$defs/a", $defs: { a: type } }],
    ["a pointer with escapes", { $ref: "#/$defs/a~1%20%25%22~0", $defs: { 'a/ %"~': type } }],
    ["an anchor", { $ref: "#a", $defs: { x: { $anchor: "a", ...type } } }],
    [
      "the id of the document",
      { $id: "https://e.org/s", $ref: "https://e.org/s#/$defs/a", $defs: { a: type } },
    ],
    ["a path relative to that id", { $id: "https://e.org/s", $ref: "s#/$defs/a", $defs: { a: type } }],
    ["an unknown keyword", { $ref: "#/components/a", components: { a: type } }],
    ["a member of a list", { $ref: "#/allOf/0", allOf: [type] }],
    ["a chain", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: type } }],
  ] as const) {
    test(`${name} is followed`, async () => {
      const answers = [await validate(schema, '"a"'), await validate(schema, "1")];
      assert.deepEqual(
        answers.map(answer => answer.state === "ok" && answer.holds),
        [true, false],
      );
    });
  }

  for (const [name, schema, reason] of [
    [
      "to another document",
      { $ref: "http://127.0.0.1:1/x" },
      "Only references inside the schema are supported, such as #/$defs/name.",
    ],
    ["without a target", { $ref: "#/$defs/a" }, "The reference has no target."],
    ["to itself", { $ref: "#" }, "The reference leads back to itself."],
  ] as const) {
    test(`a reference ${name} is unavailable, in our own words`, async () => {
      const answer = await validate(schema, "1");
      assert.equal(answer.state, "unavailable");
      assert.equal(
        answer.state === "unavailable" && reasonText(answer.reason),
        `This could not be checked: ${reason}`,
      );
    });
  }
});

suite("hostile schemas", () => {
  const strict = new Sandbox();
  after(() => strict.close());

  for (const [name, schema, value] of [
    ["an exponential anyOf", endless, slowValue],
    [
      "a list whose items must differ",
      { uniqueItems: true },
      JSON.stringify(Array.from({ length: 60_000 }, (_, at) => ({ at }))),
    ],
  ] as const) {
    test(`${name} times out, and the questions asked at the same time are answered`, async () => {
      const answers = await Promise.all([
        validate(true, "1", strict),
        validate(schema, value, strict),
        validate(true, "2", strict),
        validate(false, "3", strict),
      ]);
      assert.deepEqual(
        answers.map(({ state }) => state),
        ["ok", "timeout", "ok", "ok"],
      );
    });
  }

  // On Node 24, a heap that fills up inside JSON.parse ends this process, and every test in this file with it.
  for (const [what, value] of [
    ["lists in lists", "[".repeat(499_999) + "]".repeat(499_999)],
    ["empty objects", `[${"{},".repeat(333_000)}{}]`],
    ["objects that have an index for a key", `[${'{"20":0},'.repeat(110_000)}{}]`],
  ] as const) {
    test(`a value of a million characters of ${what} is parsed, several times`, async () => {
      const patient = new Sandbox({ budgetMs: 60_000 });
      const answers = await Promise.all([1, 2, 3, 4].map(() => validate(true, value, patient)));
      await patient.close();
      assert.deepEqual(new Set(answers.map(({ state }) => state)), new Set(["ok"]));
    });
  }

  test("a value or text of more than a million characters is unavailable", async () => {
    const text = "x".repeat(1_000_001);
    const answers = [
      await validate(true, text),
      await sandbox.answer({ kind: "pattern", pattern: "x", flags: "", text }, caller()),
    ];
    assert.deepEqual(
      answers.map(({ state }) => state),
      ["unavailable", "unavailable"],
    );
  });

  test("a thread that runs out of memory is replaced", async () => {
    const small = new Sandbox({ memoryMb: 16, budgetMs: 60_000 });
    // Every item leaves three hundred long errors behind before the whole schema has failed.
    const hoarding = {
      contains: { anyOf: Array.from({ length: 300 }, (_, at) => ({ const: "x".repeat(150) + at })) },
    };
    const items = `[${"1,".repeat(30_000)}1]`;
    const answers = await Promise.all([validate(hoarding, items, small), validate(true, "1", small)]);
    await small.close();
    assert.deepEqual(
      answers.map(({ state }) => state),
      ["unavailable", "ok"],
    );
  });

  test("after three timeouts a schema is not tried again, and other schemas are", async () => {
    const strict = new Sandbox({ budgetMs: 250 });
    for (let tries = 0; tries < 3; tries++) await validate(endless, slowValue, strict);
    assert.equal((await validate(endless, "{}", strict)).state, "timeout");
    assert.equal((await validate({ pattern: "^a+$" }, '"aaa"', strict)).state, "ok");
    await strict.close();
  });

  test("a schema that was answered in between may time out again", async () => {
    const strict = new Sandbox({ budgetMs: 250 });
    for (let tries = 0; tries < 2; tries++) await validate(endless, slowValue, strict);
    assert.equal((await validate(endless, "{}", strict)).state, "ok");
    for (let tries = 0; tries < 2; tries++) await validate(endless, slowValue, strict);
    assert.equal((await validate(endless, "{}", strict)).state, "ok");
    await strict.close();
  });
});

suite("fairness", () => {
  /** `count` schemas that never end, each different, of one agent. */
  const flood = (count: number, by: Sandbox, who: SandboxCaller) =>
    Array.from({ length: count }, (_, at) =>
      by.answer({ kind: "schema", schema: JSON.stringify({ ...endless, title: at }), value: slowValue }, who),
    );
  const codesOf = (answers: SandboxAnswer[]) =>
    answers.map(answer => (answer.state === "ok" ? "ok" : answer.reason.code));

  test("an agent waits for one turn of another agent, not for its queue", async () => {
    const shared = new Sandbox({ budgetMs: 250 });
    await validate(true, "1", shared);
    let answered = 0;
    for (const one of flood(60, shared, caller("flooding"))) void one.then(() => answered++);
    const answer = await shared.answer({ kind: "schema", schema: "true", value: "1" }, caller("other"));
    assert.deepEqual([answer.state, answered <= 1], ["ok", true]);
    await shared.close();
  });

  test("an account waits for one turn of another account, however many agents it has", async () => {
    const shared = new Sandbox({ budgetMs: 250 });
    await validate(true, "1", shared);
    let answered = 0;
    for (let agent = 0; agent < 50; agent++) {
      const [one] = flood(1, shared, caller(`agent ${agent}`, "flooding"));
      void one!.then(() => answered++);
    }
    const answer = await shared.answer({ kind: "schema", schema: "true", value: "1" }, caller("other"));
    assert.deepEqual([answer.state, answered <= 1], ["ok", true]);
    await shared.close();
  });

  test("a run that has used its time gets no more, queued or not, and another run of its agent does", async () => {
    const shared = new Sandbox({ budgetMs: 250 });
    const spending = caller();
    spending.budget.sandboxMsLeft = 600;
    const codes = codesOf(await Promise.all(flood(40, shared, spending)));
    assert.deepEqual(codes, [...Array(3).fill("sandbox_timeout"), ...Array(37).fill("sandbox_run_budget")]);
    assert.deepEqual(codesOf(await Promise.all(flood(1, shared, spending))), ["sandbox_run_budget"]);
    assert.equal((await validate(true, "1", shared)).state, "ok");
    await shared.close();
  });

  test("an agent that has used its minute gets no more, queued or not, and another agent does", async () => {
    const shared = new Sandbox({ budgetMs: 250, agentMsPerMinute: 500 });
    const codes = codesOf(
      (await Promise.all([1, 2].map(() => Promise.all(flood(20, shared, caller("slow")))))).flat(),
    );
    assert.equal(codes.filter(code => code === "sandbox_agent_budget").length, 37);
    assert.deepEqual(codesOf(await Promise.all(flood(1, shared, caller("slow")))), ["sandbox_agent_budget"]);
    assert.equal((await validate(true, "1", shared)).state, "ok");
    await shared.close();
  });

  test("a schema that timed out three times is answered at once where it is queued already", async () => {
    const shared = new Sandbox({ budgetMs: 250 });
    const asked = Array.from({ length: 200 }, () => validate(endless, slowValue, shared));
    const begun = performance.now();
    assert.deepEqual(codesOf(await Promise.all(asked)), Array(200).fill("sandbox_timeout"));
    // All two hundred would take 20 s.
    assert.ok(performance.now() - begun < 10_000);
    await shared.close();
  });

  test("a schema that times out for one agent is tried for another", async () => {
    const shared = new Sandbox({ budgetMs: 250 });
    for (let tries = 0; tries < 3; tries++) await validate(endless, slowValue, shared);
    const schema = JSON.stringify(endless);
    const answer = await shared.answer({ kind: "schema", schema, value: "{}" }, caller("other"));
    assert.equal(answer.state, "ok");
    await shared.close();
  });
});

suite("withdrawn questions", () => {
  test("a question that is aborted before it is sent is not sent", async () => {
    assert.equal((await validate(true, "1", sandbox, AbortSignal.abort())).state, "unavailable");
    const controller = new AbortController();
    const asked = validate(true, "1", sandbox, controller.signal);
    controller.abort();
    assert.equal((await asked).state, "unavailable");
  });

  test("a closed sandbox answers all open and later questions", async () => {
    const closing = new Sandbox();
    const asked = [validate(endless, slowValue, closing), validate(true, "1", closing)];
    await closing.close();
    assert.deepEqual(
      (await Promise.all(asked)).map(({ state }) => state),
      ["unavailable", "unavailable"],
    );
    assert.equal((await validate(true, "1", closing)).state, "unavailable");
  });
});
