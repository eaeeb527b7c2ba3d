// What is taken for an answer, and what is not.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { scoreOfVerdicts } from "../../../src/evaluate/semantic-score.ts";
import { isAboutAbsence } from "../../../src/remote/judge/absence.ts";
import { readLabels, readVerdicts } from "../../../src/remote/judge/answers.ts";
import { gap, type Posed } from "../../../src/remote/judge/prompts.ts";

const labels = (...entries: unknown[]) => JSON.stringify({ labels: entries });
const said = (id: string, label: string, why = "because") => ({ id, why, label });
const malformed = "judge_answer_malformed";

describe("labels", () => {
  const read = (text: string, asked = ["s1", "s2"]) => {
    const found = readLabels(text, asked);
    return found.code === "ok"
      ? Object.fromEntries([...found.value].map(([id, { label }]) => [id, label]))
      : found.detail.code;
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
    assert.ok(found.code === "ok");
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
      assert.equal(read(text), malformed, text);
    }
  });

  it("never make reading fail, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        text => typeof readLabels(text, ["s1"]).code === "string",
      ),
    );
  });
});

const reply = 'Your parcel is in **Lyon**.\nIt "arrives" on Tuesday, the 4th.';
const sign = "◆";

/** Criteria about one reply, the last of which is met by none; asked for by ids that do not tell which. */
function posedAs(...criteria: string[]): Map<string, Posed> {
  const posed = criteria.map((criterion, at): [string, Posed] => [
    `c${at + 2}`,
    { id: `asked-${at + 1}`, criterion, reply },
  ]);
  return new Map([["c1", { id: null, criterion: "Known.", reply }], ...posed]);
}

const entry = (id: string, verdict: string, evidence = "in Lyon") => ({
  id,
  evidence,
  reason: "Because.",
  verdict,
});
const canary = entry("c1", "not_met", "");

describe("verdicts", () => {
  const read = (posed: Map<string, Posed>, ...verdicts: unknown[]) => {
    const found = readVerdicts(JSON.stringify({ verdicts }), posed, sign);
    return found.code === "ok"
      ? Object.fromEntries([...found.value].map(([id, { verdict }]) => [id, verdict]))
      : found.detail.code;
  };
  const one = (criterion: string, verdict: string, evidence?: string) =>
    read(posedAs(criterion), canary, entry("c2", verdict, evidence));

  it("are taken by id, told by the ids of who asked, and without the one that is known", () => {
    assert.deepEqual(
      read(posedAs("First.", "Second."), entry("c3", "not_met"), canary, entry("c2", "mostly")),
      { "asked-1": "mostly", "asked-2": "not_met" },
    );
  });

  it("keep evidence and reason, short, visible and without the sign of the material", () => {
    const found = readVerdicts(
      JSON.stringify({
        verdicts: [
          canary,
          { ...entry("c2", "met", `◆Your ◆parcel\u200b ◆is`), reason: `so\n${"x".repeat(999)}` },
        ],
      }),
      posedAs("First."),
      sign,
    );
    assert.ok(found.code === "ok");
    const { evidence, reason, verdict } = found.value.get("asked-1")!;
    assert.deepEqual([evidence, verdict, reason.length], ["Your parcel is", "met", 300]);
  });

  for (const evidence of [
    "in Lyon",
    "“Your parcel is in Lyon”",
    "YOUR PARCEL … on Tuesday",
    "It 'arrives'  on\nTuesday",
    "Your parcel ... the 4th",
    "◆in ◆Lyon",
  ]) {
    it(`in favour stand on a quotation that is in the reply: ${JSON.stringify(evidence)}`, () => {
      assert.deepEqual(one("Says where.", "met", evidence), { "asked-1": "met" });
    });
  }

  for (const evidence of [
    "in Paris",
    "Your parcel … in Paris",
    "on Tuesday in Lyon",
    "on Tuesday … in Lyon",
    "arcel is in Ly",
    "the 4",
    "r",
  ]) {
    it(`in favour do not stand on one that is not: ${JSON.stringify(evidence)}`, () => {
      assert.deepEqual(one("Says where.", "met", evidence), { "asked-1": "cannot_tell" });
      assert.deepEqual(one("Says where.", "mostly", evidence), { "asked-1": "cannot_tell" });
      assert.deepEqual(one("Says where.", "not_met", evidence), { "asked-1": "not_met" });
      assert.deepEqual(one("Does not say where.", "met", evidence), { "asked-1": "cannot_tell" });
    });
  }

  it("in favour stand on whole words only, where the script parts them", () => {
    const quoted = (reply: string, evidence: string) => {
      const posed = new Map([...posedAs(), ["c2", { id: "asked-1", criterion: "First.", reply }] as const]);
      return (read(posed, canary, entry("c2", "met", evidence)) as Record<string, string>)["asked-1"];
    };
    for (const [reply, evidence] of [
      ["A refund is impossible.", "possible"],
      ["It costs 15 euros, so 5 notes", "5 euros"],
      ["Возврат невозможен", "возможен"],
      ["Ré\u0301glé", "R"],
    ] as const) {
      assert.equal(quoted(reply, evidence), "cannot_tell", evidence);
    }
    for (const [reply, evidence] of [
      ["Impossible is not what it is: it is possible.", "possible"],
      ["包裹在里昂，周二到达", "里昂"],
      ["荷物は火曜日に届きます。", "火曜日に届"],
      ["환불을 약속합니다", "환불"],
      ["พัสดุอยู่ที่ลียง", "ลียง"],
      ["在Lyon等待", "Lyon"],
      ["Caf\u00e9 ouvert", "cafe\u0301"],
      ["ﬁnal \uff11\uff12 price", "final 12"],
      ["It is 𠮷野家 here", "野家"],
    ] as const) {
      assert.equal(quoted(reply, evidence), "met", evidence);
    }
  });

  it("in favour do not stand on words from both sides of what was left out of a long reply", () => {
    const cut = `Your parcel is${gap}in Paris`;
    const posed = new Map([
      ...posedAs(),
      ["c2", { id: "asked-1", criterion: "First.", reply: cut }] as const,
    ]);
    for (const [evidence, verdict] of [
      ["parcel is in Paris", "cannot_tell"],
      ["parcel is … in Paris", "met"],
    ] as const) {
      assert.deepEqual(read(posed, canary, entry("c2", "met", evidence)), { "asked-1": verdict });
    }
  });

  it("in favour stand without a quotation only where the criterion is about what is absent", () => {
    for (const empty of ["", " ", "—", "…", "\u200b"]) {
      assert.deepEqual(one("Says where the parcel is.", "met", empty), { "asked-1": "cannot_tell" });
      assert.deepEqual(one("Does not name a price.", "met", empty), { "asked-1": "met" });
    }
  });

  it("that the check of a quotation turned say so, and why", () => {
    const text = JSON.stringify({
      verdicts: [canary, entry("c2", "met", "in Paris"), entry("c3", "cannot_tell", "")],
    });
    const found = readVerdicts(text, posedAs("Says where.", "Says when."), sign);
    assert.ok(found.code === "ok");
    assert.deepEqual(found.value.get("asked-1"), {
      verdict: "cannot_tell",
      evidence: "",
      reason: "The passage that the judge quoted is not in the reply.",
      overruled: true,
    });
    assert.equal(found.value.get("asked-2")!.overruled, undefined);
  });

  it("stand on quotations of their own reply, not of another", () => {
    const posed = new Map([
      ...posedAs("First."),
      ["c3", { id: "asked-2", criterion: "Second.", reply: "Hello" }],
    ]);
    assert.deepEqual(read(posed, canary, entry("c2", "met"), entry("c3", "met")), {
      "asked-1": "met",
      "asked-2": "cannot_tell",
    });
  });

  it("are none where the one that is known is missing or contradicts itself", () => {
    assert.deepEqual(read(posedAs("First."), entry("c2", "met")), {});
    assert.deepEqual(read(posedAs("First."), { ...canary, reason: 1 }, entry("c2", "met")), {});
    assert.deepEqual(read(posedAs("First."), canary, entry("c1", "cannot_tell", ""), entry("c2", "met")), {});
  });

  for (const word of ["met", "mostly", "partly"]) {
    it(`spoil the whole answer where the one that is known is said to be ${word}, even once of twice`, () => {
      const failed = "judge_integrity_failed";
      assert.equal(read(posedAs("First."), entry("c1", word), entry("c2", "met")), failed);
      assert.equal(read(posedAs("First."), canary, entry("c1", word), entry("c2", "not_met")), failed);
    });
  }

  it("said twice alike count once; contradicted, malformed and of other ids they are missing", () => {
    const posed = posedAs("First.", "Second.");
    const again = { ...entry("c2", "met"), reason: "Again." };
    assert.deepEqual(read(posed, canary, entry("c2", "met"), again), { "asked-1": "met" });
    assert.deepEqual(read(posed, canary, entry("c2", "met"), entry("c2", "not_met")), {});
    for (const wrong of [
      entry("c2", "excellent"),
      { ...entry("c2", "met"), score: 17 },
      { ...entry("c2", "met"), reason: "" },
      { id: "c2", verdict: "met" },
      entry("c9", "met"),
      entry("asked-1", "met"),
      null,
    ]) {
      assert.deepEqual(read(posed, canary, wrong, entry("c3", "partly")), { "asked-2": "partly" });
    }
  });

  it("in any other form are no answer", () => {
    for (const text of [
      "",
      "It is met, I would say.",
      '{"verdicts":[{"id":"c1","score":NaN}]}',
      '{"verdicts":"met"}',
      '{"verdicts":[],"pass":true}',
      "[]",
    ]) {
      const found = readVerdicts(text, posedAs("First."), sign);
      assert.equal(found.code === "ok" || found.detail.code, malformed, text);
    }
  });

  it("never yield a score outside 0..1, whatever the text", () => {
    const word = fc.oneof(
      fc.constantFrom("met", "mostly", "partly", "not_met", "cannot_tell"),
      fc.anything(),
    );
    const entries = fc.array(
      fc.record({
        id: fc.constantFrom("c1", "c2", "c3"),
        evidence: fc.string(),
        reason: fc.string(),
        verdict: word,
      }),
      { maxLength: 4 },
    );
    const text = fc.oneof(
      fc.json(),
      entries.map(verdicts => JSON.stringify({ verdicts: [...verdicts, canary] })),
    );
    fc.assert(
      fc.property(text, text => {
        const found = readVerdicts(text, posedAs("First."), sign);
        if (found.code !== "ok") return true;
        const score = scoreOfVerdicts([...found.value.values()].map(({ verdict }) => verdict));
        return score === null || (score >= 0 && score <= 1);
      }),
    );
  });
});

describe("a criterion is about absence", () => {
  for (const criterion of [
    "Does not promise a refund.",
    "Doesn’t name a price.",
    "Contains no links",
    "Never asks for a password.",
    "Is free of jargon.",
    "Avoids blaming the user.",
    "Nennt keine Preise.",
    "Verzichtet auf Fachsprache.",
    "Ne promet pas de remboursement.",
    "N'invente rien.",
    "No promete un reembolso.",
    "Não promete nada.",
    "Non promette rimborsi.",
    "Noemt geen prijzen.",
    "Nie podaje cen.",
    "Не обещает возврат.",
    "不承诺退款。",
    "返金を約束しない。",
    "환불을 약속하지 않는다.",
    "لا يعد برد المال",
    "Geri ödeme sözü vermez, fiyat yok.",
  ]) {
    it(`where its words deny something: ${criterion}`, () => assert.ok(isAboutAbsence(criterion)));
  }
  for (const criterion of [
    "Says where the parcel is.",
    "Notes the order number.",
    "Is polite and short.",
    "Answers only about parcels.",
    "Nennt den Preis am 4. Mai.",
    "Nomme la personne responsable.",
    "告诉用户包裹在哪里。",
  ]) {
    it(`and not where they do not: ${criterion}`, () => assert.ok(!isAboutAbsence(criterion)));
  }
});
