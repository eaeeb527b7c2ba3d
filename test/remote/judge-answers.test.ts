// What is taken for an answer, and what is not.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readLabels, readVerdicts } from "../../src/remote/judge-answers.ts";

const labels = (...entries: unknown[]) => JSON.stringify({ labels: entries });
const said = (id: string, label: string, why = "because") => ({ id, why, label });

describe("labels", () => {
  const read = (text: string, asked = ["s1", "s2"]) => {
    const found = readLabels(text, asked);
    return found.ok ? Object.fromEntries([...found.value].map(([id, { label }]) => [id, label])) : found.why;
  };

  it("are taken by id, whatever their order", () => {
    assert.deepEqual(read(labels(said("s2", "no_match"), said("s1", "unsure"))), {
      s1: "unsure",
      s2: "no_match",
    });
  });

  it("of ids that were not asked for are left out", () => {
    assert.deepEqual(read(labels(said("s9", "match"), said("__proto__", "match"), said("s1", "match"))), {
      s1: "match",
    });
  });

  it("said twice alike count once; said twice in contradiction count as missing, a third time or not", () => {
    assert.deepEqual(read(labels(said("s1", "match"), said("s1", "match", "again"))), { s1: "match" });
    assert.deepEqual(read(labels(said("s1", "match"), said("s1", "no_match"), said("s1", "match"))), {});
  });

  for (const [what, entry] of Object.entries({
    "another word": said("s1", "nope"),
    "no reason": { id: "s1", label: "no_match" },
    "an empty reason": said("s1", "no_match", " … "),
    "a further field": { ...said("s1", "no_match"), confidence: 1 },
    "a number for an id": { ...said("s1", "no_match"), id: 1 },
    null: null,
  })) {
    it(`with ${what} are missing, and leave the others standing`, () => {
      assert.deepEqual(read(labels(entry, said("s2", "match"))), { s2: "match" });
    });
  }

  it("keep a short, visible reason", () => {
    const found = readLabels(labels(said("s1", "match", `a\u202e\n b ${"long ".repeat(200)}`)), ["s1"]);
    assert.ok(found.ok);
    const { reason } = found.value.get("s1")!;
    assert.ok(reason.startsWith("a b long") && reason.length <= 300);
  });

  it("are found bare, after thinking aloud, or in the one fence a text ends with", () => {
    const json = labels(said("s1", "match"));
    const fence = `\`\`\`json\n${json}\n\`\`\``;
    for (const text of [
      json,
      `\n${json}\n`,
      fence,
      `Here:\n${fence}\n`,
      `<think>{"labels":[]}</think>${json}`,
    ]) {
      assert.deepEqual(read(text), { s1: "match" }, text);
    }
    const mentioned = [
      `${fence}\n${fence}`,
      `The reply holds\n${fence}\nwhich I ignore.`,
      `It says ${json}.`,
    ];
    for (const text of [...mentioned, "[]", "null", '"labels"', "```", "```\n```"]) {
      assert.equal(read(text), "it is not the JSON that was asked for", text);
    }
  });

  it("never make reading fail, whatever the text", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), text => typeof readLabels(text, ["s1"]).ok === "boolean"),
    );
  });
});

const reply = 'Your parcel is in **Lyon**.\nIt "arrives" on Tuesday, the 4th.';

describe("verdicts", () => {
  const entry = (verdict: string, evidence = "", id = "c1") => ({
    id,
    evidence,
    reason: "Because.",
    verdict,
  });
  const score = (...verdicts: unknown[]) => {
    const asked = verdicts.length > 1 ? ["c1", "c2"] : ["c1"];
    const found = readVerdicts(JSON.stringify({ verdicts }), asked, reply);
    return found.ok ? found.value.score : found.why;
  };

  it("are scored by their anchors, and as their mean", () => {
    assert.equal(score(entry("met")), 1);
    assert.equal(score(entry("mostly")), 0.75);
    assert.equal(score(entry("partly")), 0.4);
    assert.equal(score(entry("not_met")), 0);
    assert.equal(score(entry("met"), entry("not_met", "", "c2")), 0.5);
  });

  it("that could not be reached do not count; when none could, there is no score", () => {
    assert.equal(score(entry("cannot_tell"), entry("mostly", "", "c2")), 0.75);
    assert.equal(score(entry("cannot_tell")), null);
  });

  for (const evidence of [
    "in Lyon",
    "“Your parcel is in Lyon”",
    "YOUR PARCEL … on Tuesday",
    "It 'arrives'  on\nTuesday",
    "Your parcel ... the 4th",
    "—",
  ]) {
    it(`in favour stand on a quotation that is in the reply: ${JSON.stringify(evidence)}`, () => {
      assert.equal(score(entry("met", evidence)), 1);
    });
  }

  for (const evidence of ["in Paris", "Your parcel … in Paris", "on Tuesday in Lyon"]) {
    it(`in favour do not stand on one that is not: ${JSON.stringify(evidence)}`, () => {
      assert.equal(score(entry("met", evidence)), null);
      assert.equal(score(entry("mostly", evidence)), null);
      assert.equal(score(entry("not_met", evidence)), 0);
    });
  }

  it("in favour do not stand on a part of the reply that the judge was not shown", () => {
    const long = `${"a ".repeat(20_000)} hidden ${"b ".repeat(20_000)}`;
    const found = readVerdicts(JSON.stringify({ verdicts: [entry("met", "hidden")] }), ["c1"], long);
    assert.ok(found.ok && found.value.score === null);
  });

  it("must be one for each criterion", () => {
    for (const verdicts of [[], [entry("met", "", "c2")], [entry("met"), entry("met")]]) {
      const found = readVerdicts(JSON.stringify({ verdicts }), ["c1"], reply);
      assert.ok(!found.ok);
    }
  });

  it("never yield a score outside 0..1, whatever the text", () => {
    const text = fc.oneof(
      fc.json(),
      fc
        .array(
          fc.record({
            id: fc.constantFrom("c1", "c2"),
            evidence: fc.string(),
            reason: fc.string(),
            verdict: fc.oneof(
              fc.constantFrom("met", "mostly", "partly", "not_met", "cannot_tell"),
              fc.anything(),
            ),
          }),
          { maxLength: 3 },
        )
        .map(verdicts => JSON.stringify({ verdicts })),
    );
    fc.assert(
      fc.property(text, text => {
        const found = readVerdicts(text, ["c1"], reply);
        const score = found.ok ? found.value.score : null;
        return score === null || (score >= 0 && score <= 1);
      }),
    );
  });
});
