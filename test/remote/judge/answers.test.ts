// What is taken for an answer, and what is not.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { gap } from "../../../src/model/judge/prompt-bounds.ts";
import { readClasses, readLabels, readVerdicts } from "../../../src/remote/judge/answers.ts";
import type { ClassifyPrompt, Posed, PosedCriterion } from "../../../src/remote/judge/prompts.ts";

const echo = { first: "tamarind", last: "willow" };
const repeated = { first_word: "tamarind", last_word: "Willow." };
const tokens = { counted: 0, estimated: 4_000 };
const given = (answer: object) => ({ text: JSON.stringify({ ...repeated, ...answer }), tokens });

const labels = (...entries: unknown[]) =>
  JSON.stringify({ ...repeated, labels: [said("s8", "match"), said("s9", "no_match"), ...entries] });
const said = (id: string, label: string, why = "because") => ({ id, why, label });
const malformed = "judge_answer_malformed";

suite("labels", () => {
  const posed = new Map<string, Posed>([
    ["s1", { id: "s1" }],
    ["s2", { id: "s2" }],
    ["s8", { id: null, canary: "always" }],
    ["s9", { id: null, canary: "never" }],
  ]);
  const readAll = (text: string) => readLabels({ text, tokens }, posed, echo);
  const read = (text: string) => {
    const found = readAll(text);
    return found.code === "ok"
      ? Object.fromEntries([...found.value].map(([id, { label }]) => [id, label]))
      : found.detail.code;
  };

  test("are taken by id, whatever their order", () => {
    assert.deepEqual(read(labels(said("s2", "no_match"), said("s1", "unsure"))), {
      s1: "unsure",
      s2: "no_match",
    });
  });

  test("of ids that were not asked for are left out", () => {
    assert.deepEqual(read(labels(said("s7", "match"), said("__proto__", "match"), said("s1", "match"))), {
      s1: "match",
    });
  });

  test("said twice alike count once; said twice in contradiction count as missing, a third time or not", () => {
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
    test(`with ${what} are missing, and leave the others standing`, () => {
      assert.deepEqual(read(labels(entry, said("s2", "match"))), { s2: "match" });
    });
  }

  test("keep a short, visible reason", () => {
    const found = readAll(labels(said("s1", "match", `a\u202e\n b ${"long ".repeat(200)}`)));
    assert.ok(found.code === "ok");
    const { reason } = found.value.get("s1")!;
    assert.ok(reason.startsWith("a b long") && reason.length <= 300);
  });

  test("are found bare, after thinking aloud, or in the one fence a text ends with", () => {
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

  test("never make reading fail, whatever the text", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => typeof readAll(text).code === "string"));
  });
});

suite("the labels of the two scenarios with a known answer", () => {
  const posed = new Map<string, Posed>([
    ["s1", { id: "s1" }],
    ["s2", { id: null, canary: "always" }],
    ["s3", { id: null, canary: "never" }],
  ]);
  for (const [always, never, outcome] of [
    ["match", "no_match", ["s1"]],
    ["unsure", "unsure", ["s1"]],
    ["match", "match", "judge_integrity_failed"],
    ["no_match", "no_match", "judge_integrity_failed"],
    ["match", undefined, []],
    [undefined, "no_match", []],
  ] as const) {
    test(`${always ?? "missing"} and ${never ?? "missing"} give ${outcome.length === 0 ? "nothing" : outcome}`, () => {
      const answered = [always && said("s2", always), never && said("s3", never)].filter(Boolean);
      const found = readLabels(given({ labels: [said("s1", "no_match"), ...answered] }), posed, echo);
      assert.deepEqual(found.code === "ok" ? [...found.value.keys()] : found.detail.code, outcome);
    });
  }
});

suite("an answer that does not repeat the words of the prompt", () => {
  const read = (answer: object, counted = 0) => {
    const text = JSON.stringify({ classes: [], ...answer });
    const found = readClasses({ text, tokens: { counted, estimated: 4_000 } }, new Map(), echo);
    return found.code === "ok" ? "ok" : found.detail.code;
  };
  for (const [first_word, last_word, counted, outcome] of [
    ["tamarind", "willow", 0, "ok"],
    ["“Tamarind”", " willow\n", 0, "ok"],
    ["tamarind", "willow", 100, "ok"],
    ["", "willow", 4_000, "judge_context_too_small"],
    [undefined, "willow", 0, "judge_context_too_small"],
    ["maple", "willow", 0, "judge_context_too_small"],
    ["", "", 1_999, "judge_context_too_small"],
    ["", "", 2_000, "judge_echo_wrong"],
    ["", "maple", 0, "judge_echo_wrong"],
    ["tamarind", "maple", 0, "judge_echo_wrong"],
    ["tamarind", undefined, 100, "judge_echo_wrong"],
    ["tamarind willow", "willow tamarind", 0, "judge_echo_wrong"],
  ] as const) {
    test(`but ${JSON.stringify([first_word, last_word])}, at ${counted} of 4,000 tokens: ${outcome}`, () =>
      assert.equal(read({ first_word, last_word }, counted), outcome));
  }
});

suite("classes", () => {
  const posed: ClassifyPrompt["posed"] = new Map([
    ["c1", { id: "a" }],
    ["c2", { id: null, canary: "passage" }],
    ["c3", { id: "b" }],
    ["c4", { id: "c" }],
    ["c5", { id: null, canary: "absence" }],
  ]);
  const class_ = (id: string, rests_on: string, conditional?: string) => ({ id, rests_on, conditional });
  const known = [class_("c2", "passage"), class_("c5", "absence")];
  const read = (...classes: object[]) => {
    const found = readClasses(given({ classes }), posed, echo);
    return found.code === "ok" ? Object.fromEntries(found.value) : found.detail.data;
  };

  test("are read by id, and given by the ids of who asked; unsure is null, and not conditional", () => {
    const said = [
      class_("c1", "absence", "yes"),
      class_("c3", "unsure", "unsure"),
      class_("c4", "nothing", "yes"),
      class_("c9", "whole", "no"),
    ];
    assert.deepEqual(read(...said, ...known), {
      a: { restsOn: "absence", conditional: true },
      b: { restsOn: null, conditional: false },
    });
  });

  test("are none if one that is known is wrong, and left out if one is missing", () => {
    for (const wrong of ["absence", "whole", "unsure"]) {
      assert.deepEqual(read(class_("c1", "whole"), class_("c2", wrong), known[1]!), { wrong: "class" });
    }
    assert.deepEqual(read(class_("c1", "whole"), known[1]!), {});
  });
});

const reply = 'Your parcel is in **Lyon**.\nIt "arrives" on Tuesday, the 4th.';
const sign = "◆";

/** Questions about one reply, and the two with a known answer; the ids of who asks do not tell which is which. */
function posedAs(count: number, more: Partial<PosedCriterion> = {}): Map<string, PosedCriterion> {
  const about = { reply, own: [], others: [{ hint: "user_input" as const, text: "Where is my parcel?" }] };
  const asked = Array.from({ length: count }, (_, at): [string, PosedCriterion] => [
    `c${at + 3}`,
    { id: `asked-${at + 1}`, ...about, ...more } as PosedCriterion,
  ]);
  return new Map([
    ["c1", { id: null, canary: "never", ...about }],
    ["c2", { id: null, canary: "always", ...about }],
    ...asked,
  ]);
}

const entry = (id: string, verdict: string, evidence = "in Lyon") => ({
  id,
  evidence,
  reason: "Because.",
  verdict,
});
const never = entry("c1", "not_met", "");
const always = entry("c2", "met", "");
const canaries = [never, always];

suite("verdicts", () => {
  const readAll = (posed: Map<string, PosedCriterion>, ...verdicts: unknown[]) =>
    readVerdicts(given({ verdicts }), posed, { echo, sign });
  const read = (posed: Map<string, PosedCriterion>, ...verdicts: unknown[]) => {
    const found = readAll(posed, ...verdicts);
    return found.code === "ok"
      ? Object.fromEntries([...found.value].map(([id, { verdict }]) => [id, verdict]))
      : found.detail.code;
  };
  const quotation = (evidence: string, more: Partial<PosedCriterion> = {}) => {
    const found = readAll(posedAs(1, more), ...canaries, entry("c3", "met", evidence));
    return found.code === "ok" && found.value.get("asked-1")!.quotation;
  };

  test("are read by id, and given by the ids of who asked, without those with a known answer", () => {
    assert.deepEqual(read(posedAs(2), entry("c4", "not_met"), never, entry("c3", "mostly"), always), {
      "asked-1": "mostly",
      "asked-2": "not_met",
    });
  });

  test("may be any of the six words", () => {
    for (const word of ["met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"]) {
      assert.deepEqual(read(posedAs(1), ...canaries, entry("c3", word)), { "asked-1": word });
    }
  });

  test("keep evidence and reason, short, visible and without the sign of the material", () => {
    const found = readAll(posedAs(1), ...canaries, {
      ...entry("c3", "met", `◆Your ◆parcel\u200b ◆is`),
      reason: `so\n${"x".repeat(999)}`,
    });
    assert.ok(found.code === "ok");
    const { evidence, reason, verdict } = found.value.get("asked-1")!;
    assert.deepEqual([evidence, verdict, reason.length], ["Your parcel is", "met", 300]);
  });

  for (const [evidence, expected] of [
    ["in Lyon", "found"],
    ["“Your parcel is in Lyon”", "found"],
    ["YOUR PARCEL IS … arrives on Tuesday", "found"],
    ["… in Lyon …", "found"],
    ["Your parcel is in Lyon... It arrives", "found"],
    ["YOUR PARCEL … on Tuesday", "invented"],
    ["Your parcel is … Lyon it arrives … on Tuesday the", "invented"],
    ["It 'arrives'  on\nTuesday", "found"],
    ["Your parcel is ... Tuesday, the 4th", "found"],
    ["◆in ◆Lyon", "found"],
    ["in Paris", "invented"],
    ["Your parcel … in Paris", "invented"],
    ["on Tuesday in Lyon", "invented"],
    ["arrives on Tuesday … parcel is in", "invented"],
    ["arcel is in Ly", "invented"],
    ["the 4", "invented"],
    ["r", "invented"],
    ["Where is my parcel", "elsewhere"],
    ["is in", "trivial"],
    ["It", "trivial"],
    ["", "empty"],
    [" ", "empty"],
    ["—", "empty"],
    ["…", "empty"],
    ["\u200b", "empty"],
  ] as const) {
    test(`quote a passage that is ${expected}: ${JSON.stringify(evidence)}`, () =>
      assert.equal(quotation(evidence), expected));
  }

  test("quote a reply of function words alone as a whole", () => {
    assert.equal(quotation("Yes, it is.", { reply: "Yes, it is." }), "found");
    assert.equal(quotation("it is", { reply: "So it is." }), "trivial");
    assert.equal(quotation("So it is", { reply: "So it is." }), "found");
  });

  test("quote whole words in scripts that separate words", () => {
    for (const [reply, evidence] of [
      ["A refund is impossible.", "possible"],
      ["It costs 15 euros, so 5 notes", "5 euros"],
      ["Возврат невозможен", "возможен"],
      ["Ré\u0301glé", "R"],
    ] as const) {
      assert.equal(quotation(evidence, { reply }), "invented", evidence);
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
      assert.equal(quotation(evidence, { reply }), "found", evidence);
    }
  });

  const around: Partial<PosedCriterion> = {
    own: [
      { hint: 0, text: "I look it up for you." },
      { hint: 1, text: 'refund {"order":"A-7","amount":20}' },
    ],
    others: [
      { hint: "user_input", text: "Where is my parcel?" },
      { hint: 2, text: '{"status":"refunded","by":"Ana"}' },
      { hint: "reference", text: "It is in Lyon since Monday." },
    ],
  };

  for (const [evidence, expected] of [
    ["I look it up", "found"],
    ['refund({"order": "A-7", "amount": 20})', "found"],
    ["refund order A-7 … 7 amount 20", "invented"],
    ["refund order A-7", "found"],
    ["refunded by Ana", "elsewhere"],
    ['"status":"refunded"', "elsewhere"],
    ["since Monday", "elsewhere"],
    ["I look up order A-7", "invented"],
  ] as const) {
    test(`quote what else the agent said or did, and nobody else: ${JSON.stringify(evidence)} is ${expected}`, () =>
      assert.equal(quotation(evidence, around), expected));
  }

  for (const [passage, expected] of [
    ["", "empty"],
    ["…", "empty"],
    ["refunded", "found"],
    ["◆Where ◆is my ◆parcel", "found"],
    ["in Lyon since Monday", "found"],
    ["I look it up", "found"],
    ["arrives on Tuesday", "found"],
    ["is", "trivial"],
    ["refunded by Bob", "invented"],
    ["Where is my parcel refunded", "invented"],
  ] as const) {
    test(`compare with what was shown: ${JSON.stringify(passage)} is ${expected}`, () => {
      const compared = { ...entry("c3", "met"), compared_with: passage };
      const found = readAll(posedAs(1, around), ...canaries, compared);
      assert.equal(found.code === "ok" && found.value.get("asked-1")!.comparison, expected);
    });
  }

  for (const [id, expected] of [
    ["r1", "reply"],
    ["m1", 0],
    ["m12", 11],
    ["user_input", "user_input"],
    ["reference", "reference"],
    ["", null],
    ["m0", null],
    ["m1 ", null],
    ["c3", null],
    ["m99999", null],
    ["__proto__", null],
  ] as const) {
    test(`say where they copied from, by an id that may be wrong: ${JSON.stringify(id)}`, () => {
      const hinted = { ...entry("c3", "met"), evidence_in: id, compared_in: id };
      const found = readAll(posedAs(1), ...canaries, hinted);
      assert.ok(found.code === "ok");
      const { evidenceHint, comparisonHint } = found.value.get("asked-1")!;
      assert.deepEqual([evidenceHint, comparisonHint], [expected, expected]);
    });
  }

  test("quote no words from both sides of what was left out of a long reply", () => {
    const cut = { reply: `I see your parcel is${gap}in Paris today` };
    assert.equal(quotation("parcel is in Paris", cut), "invented");
    assert.equal(quotation("I see your parcel is … in Paris today", cut), "invented");
  });

  for (const [shown, evidence, expected] of [
    ["The fee is -5 euros.", "is 5 euros", "invented"],
    ["The fee is −5 euros.", "is -5 euros", "found"],
    ["It costs $1,500 a month.", "costs $1", "invented"],
    ["It costs $1,500 a month.", "costs 1,500", "invented"],
    ["It costs **$1,500** a month.", "costs $1,500 a month", "found"],
    ["Up to 5.5% off", "5 off", "invented"],
    ["Up to 5.5% off", "to 5.5% off", "found"],
    ["Order A-7, on 4-5 May.", "A 7 on 4 5 May", "found"],
    ["<b>5</b> items", "5 items", "found"],
    ["Open until 14:05 today", "Open until 14", "invented"],
    ["Open until 14:05 today", "until 14:05", "found"],
    ["❌ Refund after 30 days", "Refund after 30 days", "invented"],
    ["✅ Refund after 30 days", "Refund after 30 days", "found"],
    ["❌ Refund after 30 days", "❌ Refund after 30 days", "found"],
    ["We do not promise a refund for that order.", "promise a refund", "invented"],
    ["We don't promise a refund.", "promise a refund", "invented"],
    ["We don’t promise a refund.", "We don't promise a refund", "found"],
    ["We cannot refund the order.", "refund the order", "invented"],
    ["No, it is in Lyon.", "it is in Lyon", "found"],
    ["It is possible, not certain.", "It is possible", "found"],
    ["We will then not under any terms give you the money.", "We will then … give you the money", "invented"],
    ["We will then, as agreed, give you the money.", "We will then … give you the money", "found"],
    ["Wir erstatten nicht.", "Wir erstatten", "invented"],
    ["Nous n'offrons pas de remboursement", "de remboursement", "invented"],
    ["No puedo ayudar", "puedo ayudar", "invented"],
    ["Chove no sábado, não hoje.", "sábado", "found"],
    ["Мы не возвращаем деньги", "возвращаем деньги", "invented"],
    ["不可以退款", "可以退款", "invented"],
    ["返金できません。", "返金でき", "invented"],
    ["No.", "No", "found"],
    [
      `We will then ${"well ".repeat(60)} give you the money`,
      "We will then … give you the money",
      "invented",
    ],
    ["荷物は火曜日に東京から届きます。", "荷物は火曜日 … から届きます", "found"],
  ] as const) {
    test(`quote ${JSON.stringify(evidence)} of ${JSON.stringify(shown.slice(0, 60))}: ${expected}`, () =>
      assert.equal(quotation(evidence, { reply: shown }), expected));
  }

  test("that claim to quote the reply are found in the reply alone", () => {
    const claimed = (evidence_in: string) => {
      const said = { ...entry("c3", "met", "I look it up"), evidence_in };
      const found = readAll(posedAs(1, around), ...canaries, said);
      return found.code === "ok" && found.value.get("asked-1")!.quotation;
    };
    assert.deepEqual(["r1", "m1", ""].map(claimed), ["elsewhere", "found", "found"]);
  });

  test("are found quickly, however often a passage begins", () => {
    const reply = "so it is so it is not ".repeat(1_100);
    const before = process.cpuUsage();
    assert.equal(quotation("so it is … and nothing else at all", { reply }), "invented");
    assert.ok(process.cpuUsage(before).user < 2_000_000);
  });

  test("quote their own reply, not that of another question", () => {
    const posed = new Map([
      ...posedAs(1),
      ["c4", { id: "asked-2", reply: "Hello", own: [], others: [] }] as [string, PosedCriterion],
    ]);
    const found = readAll(posed, ...canaries, entry("c3", "met"), entry("c4", "met"));
    assert.deepEqual(found.code === "ok" && [...found.value.values()].map(({ quotation }) => quotation), [
      "found",
      "invented",
    ]);
  });

  test("are none if one with a known answer is missing or contradicts itself", () => {
    assert.deepEqual(read(posedAs(1), always, entry("c3", "met")), {});
    assert.deepEqual(read(posedAs(1), never, entry("c3", "met")), {});
    assert.deepEqual(read(posedAs(1), { ...never, reason: 1 }, always, entry("c3", "met")), {});
    assert.deepEqual(read(posedAs(1), ...canaries, entry("c2", "mostly", ""), entry("c3", "met")), {});
  });

  for (const [id, kind, words] of [
    ["c1", "no", ["met", "mostly", "partly", "not_applicable", "cannot_tell"]],
    ["c2", "every", ["partly", "not_met", "not_applicable", "cannot_tell"]],
  ] as const) {
    for (const word of words) {
      test(`make the answer unusable if the criterion that ${kind} reply meets is ${word}, even once of twice`, () => {
        const failed = "judge_integrity_failed";
        const others = canaries.filter(canary => canary.id !== id);
        assert.equal(read(posedAs(1), ...others, entry(id, word), entry("c3", "met")), failed);
        assert.equal(read(posedAs(1), ...canaries, entry(id, word), entry("c3", "not_met")), failed);
      });
    }
  }

  test("given twice alike count once; contradicted, malformed and of other ids they are missing", () => {
    const posed = posedAs(2);
    const again = { ...entry("c3", "met"), reason: "Again." };
    assert.deepEqual(read(posed, ...canaries, entry("c3", "met"), again), { "asked-1": "met" });
    assert.deepEqual(read(posed, ...canaries, entry("c3", "met"), entry("c3", "not_met")), {});
    for (const wrong of [
      entry("c3", "excellent"),
      { ...entry("c3", "met"), score: 17 },
      { ...entry("c3", "met"), reason: "" },
      { id: "c3", verdict: "met" },
      entry("c9", "met"),
      entry("asked-1", "met"),
      null,
    ]) {
      assert.deepEqual(read(posed, ...canaries, wrong, entry("c4", "partly")), { "asked-2": "partly" });
    }
  });

  test("in any other form are no answer", () => {
    for (const text of [
      "",
      "It is met, I would say.",
      '{"verdicts":[{"id":"c1","score":NaN}]}',
      '{"verdicts":"met"}',
      '{"verdicts":[],"pass":true}',
      "[]",
    ]) {
      const found = readVerdicts({ text, tokens }, posedAs(1), { echo, sign });
      assert.equal(found.code === "ok" || found.detail.code, malformed, text);
    }
  });

  test("never make reading fail, whatever the text", () => {
    const word = fc.oneof(
      fc.constantFrom("met", "mostly", "partly", "not_met", "not_applicable", "cannot_tell"),
      fc.anything(),
    );
    const entries = fc.array(
      fc.record({
        id: fc.constantFrom("c1", "c2", "c3", "c4"),
        evidence: fc.string(),
        evidence_in: fc.string(),
        compared_with: fc.string(),
        compared_in: fc.string(),
        reason: fc.string(),
        verdict: word,
      }),
      { maxLength: 4 },
    );
    const text = fc.oneof(
      fc.json(),
      entries.map(verdicts => given({ verdicts: [...verdicts, ...canaries] }).text),
    );
    fc.assert(
      fc.property(
        text,
        text => typeof readVerdicts({ text, tokens }, posedAs(1), { echo, sign }).code === "string",
      ),
    );
  });
});
