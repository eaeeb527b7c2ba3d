// The figures of the judge's bench, counted by hand on a few answers.

import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import {
  type CriterionPair,
  type RoutePair,
  routingFigures,
  semanticFigures,
  share,
} from "../../bench/judge/figures.ts";
import { readSets } from "../../bench/judge/sets.ts";
import type { RouteLabel } from "../../src/model/judge/call.ts";

const folder = await mkdtemp(join(tmpdir(), "onlooker-sets-"));
after(() => rm(folder, { recursive: true, force: true }));

const route = (expected: RoutePair["expected"], ...labels: RoutePair["labels"]): RoutePair => ({
  expected,
  tags: [],
  labels,
});
const judged = (met: boolean, ...verdicts: CriterionPair["verdicts"]): CriterionPair => ({
  met,
  tags: [],
  verdicts,
});

const numberText = (value: number) => value.toLocaleString("en");
/** Without the interval. */
const plain = ({ count, of }: { count: number; of: number }) => `${count}/${of}`;

suite("routing", () => {
  test("counts what is skipped by how near it is, and what was not answered apart", () => {
    const figures = routingFigures([
      route("relevant", "match"),
      route("relevant", "unsure"),
      route("relevant", "no_match"),
      route("relevant", "match"),
      route("relevant", null),
      route("near", "no_match"),
      route("near", "match"),
      route("far", "no_match"),
      route("far", "no_match"),
      route("far", "unsure"),
    ]);
    assert.equal(plain(figures.recall), "3/4");
    assert.equal(plain(figures.yieldNear), "1/2");
    assert.equal(plain(figures.yieldFar), "2/3");
    assert.equal(plain(figures.unsure), "2/9");
    assert.equal(plain(figures.unanswered), "1/10");
    // Half of the near and a quarter of the relevant would be skipped: 0.5 / 0.75.
    assert.ok(Math.abs(figures.skipPrecision! - 2 / 3) < 1e-12);
  });

  test("takes a pair as disagreed about where one repeat runs the test and another does not", () => {
    const figures = routingFigures([
      route("relevant", "match", "unsure"),
      route("far", "no_match", "unsure"),
      route("far", "no_match", null),
      route("far", "no_match", "no_match"),
    ]);
    assert.equal(plain(figures.disagreement), "1/3");
  });

  test("counts as turned by an attack what was run without it and is skipped with it", () => {
    const figures = routingFigures([
      { ...route("relevant", "match"), attacked: "no_match" },
      { ...route("relevant", "match"), attacked: "unsure" },
      { ...route("relevant", "no_match"), attacked: "no_match" },
      { ...route("relevant", "match"), attacked: null },
      { ...route("far", "no_match"), attacked: "no_match" },
    ]);
    assert.equal(plain(figures.flips), "1/2");
  });
});

suite("semantic checks", () => {
  const pairs = [
    judged(true, "met", "mostly"),
    judged(true, "partly", "met"),
    judged(false, "not_met", "not_met"),
    judged(false, "mostly", "cannot_tell"),
    judged(false, "not_met", null),
  ];

  test("compares what was decided with the labels, by hand: 6 of 8, both sides weighed alike, and kappa", () => {
    const figures = semanticFigures(pairs);
    assert.equal(plain(figures.agreement), "6/8");
    assert.equal(figures.balancedAccuracy, (3 / 4 + 3 / 4) / 2);
    // Labelled met: 4 of 8; judged met: 4 of 8; by chance 0.5, so (0.75 - 0.5) / 0.5.
    assert.equal(figures.kappa, 0.5);
    assert.equal(plain(figures.undecided), "1/9");
    assert.equal(plain(figures.unanswered), "1/10");
    assert.equal(plain(figures.disagreement), "2/4");
  });

  test("counts as turned by an attack what was labelled and was not judged met, and is met with it", () => {
    const figures = semanticFigures([
      { ...judged(false, "not_met"), attacked: "met" },
      { ...judged(false, "cannot_tell"), attacked: "not_met" },
      { ...judged(false, "met"), attacked: "met" },
      { ...judged(true, "not_met"), attacked: "met" },
      { ...judged(false, "partly"), attacked: "cannot_tell" },
    ]);
    assert.equal(plain(figures.flips), "1/3");
  });

  test("has no figure where nothing was asked", () => {
    const figures = semanticFigures([]);
    assert.deepEqual([figures.kappa, figures.balancedAccuracy, figures.agreement.share], [null, null, null]);
  });
});

test("gives both ends of Wilson's interval", () => {
  assert.equal(share(300, 300).low!.toFixed(4), "0.9874");
  assert.equal(share(8, 10).low!.toFixed(4), "0.4902");
  assert.equal(share(8, 10).high!.toFixed(4), "0.9433");
  assert.deepEqual([share(0, 10).low, share(0, 10).high!.toFixed(4)], [0, "0.2775"]);
  assert.equal(share(10, 10).high!.toFixed(4), "1.0000");
});

test("takes the interval of what was asked again by its pairs, since repeats are no further evidence", () => {
  const [once, twice] = [1, 2].map(repeats =>
    routingFigures(
      Array.from({ length: 10 }, (_, at) =>
        route("relevant", ...Array<RouteLabel>(repeats).fill(at < 8 ? "match" : "no_match")),
      ),
    ),
  );
  assert.deepEqual([plain(once!.recall), plain(twice!.recall)], ["8/10", "16/20"]);
  assert.equal(twice!.recall.low!.toFixed(4), "0.4902");
  assert.deepEqual(twice!.recall.low, once!.recall.low);
  const semantic = semanticFigures([judged(true, "met", "met"), judged(false, "not_met", null)]);
  assert.deepEqual([plain(semantic.agreement), semantic.agreement.low], ["3/3", share(2, 2).low]);
});

suite("sets", () => {
  test("that come with the project can be read, and hold what they say they hold", async () => {
    const paths = globSync("bench/judge/sets/*.json", { cwd: join(import.meta.dirname, "../..") });
    const { routing, semantic, attacks } = await readSets(
      paths.map(path => join(import.meta.dirname, "../..", path)),
    );
    const inputs = routing.flatMap(set =>
      set.inputs.map(input => ({ ...input, pairs: Object.keys(set.scenarios).length - input.either.length })),
    );
    const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
    const criteria = semantic.flatMap(set => set.cases.flatMap(({ criteria }) => criteria));
    const counts = [
      `${numberText(sum(inputs.map(({ pairs }) => pairs)))} routing pairs`,
      `${sum(inputs.map(({ relevant }) => relevant.length))} of them relevant`,
      `${sum(inputs.map(({ near }) => near.length))} near`,
      `${criteria.length} criteria`,
    ];
    const docs = (await readFile(join(import.meta.dirname, "../../docs/judge-bench.md"), "utf8")).replace(
      /\s+/g,
      " ",
    );
    for (const count of counts) assert.ok(docs.includes(count), count);
    assert.ok(attacks.some(({ on }) => on === "input") && attacks.some(({ on }) => on === "reply"));
    const texts = inputs.map(({ text }) => text);
    assert.equal(new Set(texts).size, texts.length);
  });

  const faulty = {
    "that are no JSON": ["{", /is not JSON/],
    "of an unknown kind": ['{"kind":"other","about":"x"}', /kind/],
    "that name a scenario twice": [
      '{"kind":"routing","about":"x","scenarios":{"a":"A"},"inputs":[{"text":"t","relevant":["a"],"near":["a"]}]}',
      /"t" names the scenario "a"/,
    ],
    "that name an unknown scenario": [
      '{"kind":"routing","about":"x","scenarios":{"a":"A"},"inputs":[{"text":"t","relevant":["b"]}]}',
      /"t" names the scenario "b"/,
    ],
  } as const;
  for (const [name, [content, said]] of Object.entries(faulty)) {
    test(`${name} are refused, with the file's name and why`, async () => {
      const path = join(folder, "set.json");
      await writeFile(path, content);
      await assert.rejects(
        readSets([path]),
        (error: Error) => error.message.includes(path) && said.test(error.message),
      );
    });
  }
});
