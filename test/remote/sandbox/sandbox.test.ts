// The sandbox answers every question, and stops those that would never end.
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { SandboxAnswer } from "../../../src/model/sandbox.ts";
import { Sandbox } from "../../../src/remote/sandbox/sandbox.ts";

const sandbox = new Sandbox();
after(() => sandbox.close());

function validate(
  schema: unknown,
  value: string,
  by = sandbox,
  signal?: AbortSignal,
): Promise<SandboxAnswer> {
  return by.answer({ kind: "schema", schema: JSON.stringify(schema), value }, signal);
}

/** Doubles the work at each level. */
function exponential(levels: number): object {
  const $defs: Record<string, object> = { d0: { type: "string" } };
  for (let at = 1; at <= levels; at++) {
    const reference = { $ref: `#/$defs/d${at - 1}` };
    $defs[`d${at}`] = { anyOf: [reference, reference] };
  }
  return { $defs, $ref: `#/$defs/d${levels}` };
}

const catastrophic = { pattern: "^(a+)+$" };
const slowText = JSON.stringify(`${"a".repeat(60)}!`);

suite("schemas", () => {
  const draft7 = "http://json-schema.org/draft-07/schema#";
  const cases: [name: string, schema: unknown, value: string, holds: boolean][] = [
    ["an object", { type: "object", required: ["a"] }, '{"a":1}', true],
    ["a missing property", { type: "object", required: ["a"] }, "{}", false],
    ["true", true, "5", true],
    ["false", false, "5", false],
    ["what is no JSON", true, "{a", false],
    ["a bare text", { type: "string" }, "hello", false],
    ["prefix items of 2020-12", { prefixItems: [{ type: "string" }] }, "[1]", false],
    ["a list of items in draft 7", { $schema: draft7, items: [{ type: "string" }] }, "[1]", false],
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

  test("the first fault is the innermost, with its path", async () => {
    const schema = { properties: { a: { items: { type: "integer" } } } };
    const answer = await validate(schema, '{"a":[1,"x"]}');
    assert.match(answer.state === "ok" ? answer.faults[0]! : "", /^a\/1: .*integer/);
  });

  test("each question gets its own answer", async () => {
    const values = Array.from({ length: 200 }, (_, at) => at);
    const answers = await Promise.all(values.map(at => validate({ const: 7 }, String(at))));
    assert.deepEqual(
      answers.flatMap((answer, at) => (answer.state === "ok" && answer.holds ? [at] : [])),
      [7],
    );
  });
});

test("a pattern is searched with its flags", async () => {
  const ask = (flags: string) => sandbox.answer({ kind: "pattern", pattern: "^B", flags, text: "a\nb" });
  assert.deepEqual(await ask("im"), { state: "ok", holds: true, faults: [] });
  assert.deepEqual(await ask("i"), { state: "ok", holds: false, faults: [] });
});

suite("hostile schemas", () => {
  for (const [name, schema, value] of [
    ["an exponential anyOf", exponential(40), "5"],
    ["a catastrophic pattern", catastrophic, slowText],
    ["a catastrophic property pattern", { patternProperties: { "^(a+)+$": {} } }, `{${slowText}:1}`],
  ] as const) {
    test(`${name} times out, and the questions asked at the same time are answered`, async () => {
      const answers = await Promise.all([
        validate(true, "1"),
        validate(schema, value),
        validate(true, "2"),
        validate(false, "3"),
      ]);
      assert.deepEqual(
        answers.map(({ state }) => state),
        ["ok", "timeout", "ok", "ok"],
      );
    });
  }

  test("a schema that endlessly refers to itself is unavailable, not valid or invalid", async () => {
    assert.equal((await validate({ $ref: "#" }, "1")).state, "unavailable");
  });

  test("a remote reference is not followed", async () => {
    assert.equal((await validate({ $ref: "http://127.0.0.1:1/x" }, "1")).state, "unavailable");
  });

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
      await sandbox.answer({ kind: "pattern", pattern: "x", flags: "", text }),
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
    const strict = new Sandbox({ budgetMs: 100 });
    for (let tries = 0; tries < 3; tries++) await validate(catastrophic, slowText, strict);
    assert.equal((await validate(catastrophic, '"aaa"', strict)).state, "timeout");
    assert.equal((await validate({ pattern: "^a+$" }, '"aaa"', strict)).state, "ok");
    await strict.close();
  });

  test("a schema that was answered in between may time out again", async () => {
    const strict = new Sandbox({ budgetMs: 100 });
    for (let tries = 0; tries < 2; tries++) await validate(catastrophic, slowText, strict);
    assert.equal((await validate(catastrophic, '"aaa"', strict)).state, "ok");
    for (let tries = 0; tries < 2; tries++) await validate(catastrophic, slowText, strict);
    assert.equal((await validate(catastrophic, '"aaa"', strict)).state, "ok");
    await strict.close();
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
    const asked = [validate(catastrophic, slowText, closing), validate(true, "1", closing)];
    await closing.close();
    assert.deepEqual(
      (await Promise.all(asked)).map(({ state }) => state),
      ["unavailable", "unavailable"],
    );
    assert.equal((await validate(true, "1", closing)).state, "unavailable");
  });
});
