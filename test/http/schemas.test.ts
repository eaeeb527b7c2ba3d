// `Id` takes UUIDs in any case. `typed` gives a loose response schema an exact type, and accepts none that the schema would reject or strip.
import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { Id, typed } from "../../src/http/frame/schemas.ts";

type Check = { id: string; score?: number };

test("a loose schema passes on unknown fields and has the exact type", () => {
  const schema = typed<Check>()(z.looseObject({ id: z.string() }));
  const check: Check = schema.parse({ id: "a", score: 1 });
  assert.deepEqual(check, { id: "a", score: 1 });
});

test("a type that has drifted from its schema does not compile", () => {
  const strict = z.object({ id: z.string() });
  // @ts-expect-error: the schema would strip `score`.
  typed<Check>()(strict);
  const numbered = z.looseObject({ id: z.number() });
  // @ts-expect-error: an id that is text fails the schema.
  typed<Check>()(numbered);
  const demanding = z.looseObject({ id: z.string(), name: z.string() });
  // @ts-expect-error: the schema requires a name.
  typed<Check>()(demanding);
});

test("an ID is a UUID, which is what an error says", () => {
  assert.equal(Id.parse("0197A0DE-0000-7000-8000-00000000000F"), "0197a0de-0000-7000-8000-00000000000f");
  for (const value of ["zzz", "", 7, undefined]) {
    assert.equal(Id.safeParse(value).error?.issues[0]?.message, "Must be a UUID.");
  }
});
