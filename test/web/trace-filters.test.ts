// The filters of the list of traces: their words, how they replace each other, and what is said about the list.
import assert from "node:assert/strict";
import { test } from "node:test";
import { momentText } from "../../web/format.ts";
import {
  activeFilters,
  emptyRanges,
  filterGroups,
  invalidText,
  isFiltered,
  rangeFault,
  testEnd,
  timeInputs,
  withFilter,
  without,
  withTestOutcome,
} from "../../web/pages/traces/filters.ts";
import { orderedText, searchedText } from "../../web/pages/traces/list-notes.ts";
import { localTime, timeOf } from "../../web/pages/traces/time-input.ts";
import { isSameSearch, type TraceSearch, traceSearch } from "../../web/queries/trace-search.ts";

const filterOf = (label: string) =>
  filterGroups.flatMap(({ filters }) => filters).find(filter => filter.label === label)!;
const wordsOf = (search: TraceSearch) =>
  activeFilters(search, () => "Greets").map(({ filter, text, end }) => `${filter.label}: ${text}${end}`);

test("every parameter of the URL belongs to exactly one filter, or to the search box, tabs and order", () => {
  const names = filterGroups.flatMap(({ filters }) => filters.flatMap(filter => filter.names));
  assert.deepEqual([...names, "kind", "text", "order"].sort(), traceSearch.toSorted());
});

for (const [search, words] of [
  [{ tool: "find_order", model: "small" }, ["Tool: find_order", "Model: small"]],
  [{ redacted: "email" }, ["Redacted: email"]],
  [{ spanName: "chat" }, ["Span name: chat"]],
  [{ attribute: "a.b" }, ["Attribute: a.b"]],
  [{ attribute: "a.b", attributeValue: "7" }, ["Attribute: a.b = 7"]],
  [{ metadata: "tenant", metadataValue: "acme" }, ["Metadata: tenant = acme"]],
  [{ testId: "t" }, ["Test case: Greets"]],
  [{ testId: "t", testOutcome: "failed" }, ["Test case: Greets failed"]],
  [
    { testId: "t", testOutcome: "missing_instrumentation", testVersion: "3" },
    ["Test case: Greets missing instrumentation, version 3"],
  ],
  [{ testId: "t", testVersion: "2" }, ["Test case: Greets, version 2"]],
  [{ testId: "t", testOutcome: "toString" }, ["Test case: Greets toString"]],
  [{ testOutcome: "failed", attributeValue: "7", order: "longest", kind: "live" }, []],
] as [TraceSearch, string[]][]) {
  test(`the filters ${JSON.stringify(search)} read ${JSON.stringify(words)}`, () => {
    assert.deepEqual(wordsOf(search), words);
  });
}

test("a verdict and a test become the test's outcome, which keeps all other filters", () => {
  const search = { verdict: "failed", testId: "t", tool: "x", order: "longest", kind: "live" };
  const combined = withTestOutcome(search)!;
  assert.deepEqual(combined, { ...search, verdict: undefined, testOutcome: "failed" });
  assert.equal(testEnd(combined), " failed");
  assert.deepEqual(wordsOf(combined), ["Test case: Greets failed", "Tool: x"]);
  for (const other of [
    { verdict: "failed" },
    { testId: "t" },
    { verdict: "none", testId: "t" },
    { verdict: "nonsense", testId: "t" },
    { verdict: "failed", testId: "t", testOutcome: "skipped" },
    combined,
  ]) {
    assert.equal(withTestOutcome(other), undefined);
  }
});

test("a removed filter takes its outcome, version or value along; tab and order stay", () => {
  const search = { testId: "t", testOutcome: "failed", testVersion: "3", kind: "live", order: "oldest" };
  const rest = (one: TraceSearch) => Object.fromEntries(Object.entries(one).filter(([, value]) => value));
  assert.deepEqual(rest(without(search, filterOf("Test case"))), { kind: "live", order: "oldest" });
  assert.deepEqual(rest(without(search)), { kind: "live", order: "oldest" });
  assert.deepEqual([isFiltered(search), isFiltered(without(search))], [true, false]);
  const replaced = withFilter(search, filterOf("Test case"), { testId: "u" });
  assert.deepEqual(rest(replaced), { testId: "u", kind: "live", order: "oldest" });
});

test("a search in spans replaces an order that it cannot have", () => {
  const attribute = filterOf("Attribute");
  assert.equal(withFilter({ order: "longest" }, attribute, { attribute: "a" }).order, undefined);
  assert.equal(withFilter({ order: "oldest" }, attribute, { attribute: "a" }).order, "oldest");
  assert.equal(withFilter({ order: "longest" }, filterOf("Tool"), { tool: "a" }).order, "longest");
});

const at = "2026-11-21T12:00:00.000Z";
const then = momentText(at);

for (const [text, said] of [
  [orderedText({}, { traces: 10_000, from: at }), undefined],
  [orderedText({ order: "longest" }, { traces: 312, from: null }), undefined],
  [
    orderedText({ order: "longest", tool: "x" }, { traces: 10_000, from: at }),
    `Sorted by duration: the newest 10,000 matching traces, received since ${then}.`,
  ],
  [
    orderedText({ order: "fewest_tokens" }, { traces: 1, from: at }),
    `Sorted by tokens: the newest trace, received since ${then}.`,
  ],
  [
    orderedText({ order: "longest", text: "x" }, { traces: 0, from: at }),
    `No match among the traces received since ${then}. Sort by time to search older traces.`,
  ],
  [
    searchedText({ traces: 1_240, tooLarge: 0, from: at }, "newest"),
    `Searched 1,240 traces, back to ${then}.`,
  ],
  [
    searchedText({ traces: 1, tooLarge: 1, from: at }, "oldest"),
    `Searched 1 trace, up to ${then}. 1 trace was too large to search.`,
  ],
  [
    searchedText({ traces: 5_000, tooLarge: 2, from: null }, "newest"),
    "Searched all 5,000 traces. 2 traces were too large to search.",
  ],
  [searchedText({ traces: 0, tooLarge: 0, from: null }, "newest"), "No traces to search."],
] as [string | undefined, string | undefined][]) {
  test(`a list says: ${said ?? "nothing more"}`, () => assert.equal(text, said));
}

for (const at of ["2026-03-04T05:06:00.000Z", "2026-03-04T05:06:07.000Z", "2026-03-04T05:06:07.890Z"]) {
  test(`the input of a time shows ${at} and leaves it as it is`, () => {
    const shown = localTime(at)!;
    assert.equal(new Date(shown).toISOString(), at);
    assert.equal(timeOf(shown, at), at);
    assert.equal(timeOf(shown, undefined), at);
  });
}

test("a time that was not changed keeps its offset and its last digits", () => {
  const at = "2026-03-04T05:06:07.123456+02:00";
  assert.equal(timeOf(localTime(at), at), at);
  assert.equal(timeOf("", at), undefined);
});

for (const [label, values, fault] of [
  ["Duration", ["20", "3"], "Must not be less than the minimum."],
  ["Duration", ["3", "20"], undefined],
  ["Tokens", ["20", undefined], undefined],
  ["Tokens", ["7", "7"], undefined],
  ["Attribute", ["b", "a"], undefined],
] as const) {
  test(`${label} from ${values[0]} to ${values[1]} ${fault ? "is reversed" : "is accepted"}`, () =>
    assert.equal(rangeFault(filterOf(label).inputs!, values), fault));
}

for (const [first, second, fault] of [
  ["2026-11-21T12:00", "2026-11-21T12:00", "Must be later than “From”."],
  ["2026-11-21T12:00", "2026-11-21T11:59", "Must be later than “From”."],
  ["2026-11-21T12:00", "2026-11-21T12:01", undefined],
  ["2026-11-21T12:00", undefined, undefined],
] as const) {
  test(`Received from ${first} to before ${second} is ${fault ? "empty" : "accepted"}`, () =>
    assert.equal(rangeFault(timeInputs, [first, second]), fault));
}

test("empty ranges in the URL are named", () => {
  const [from, to] = ["2026-11-21T12:00:00Z", "2026-11-20T12:00:00Z"];
  assert.deepEqual(emptyRanges({ receivedFrom: from, receivedTo: to, tokensMin: "9", tokensMax: "1" }), [
    "Received: “Before” must be later than “From”.",
    "Tokens: The maximum is less than the minimum.",
  ]);
  assert.deepEqual(emptyRanges({ receivedFrom: to, receivedTo: from, durationMinMs: "9", tool: "x" }), []);
});

for (const [search, path, text] of [
  [{ verdict: "nonsense" }, "verdict", "Verdict: “nonsense” is not a known value."],
  [{ tokensMin: "many" }, "tokensMin", "Tokens: Wrong."],
  [{ order: "best" }, "order", "order: Wrong."],
  [
    { receivedFrom: "2026-11-21T12:00:00Z", receivedTo: "2026-11-20T12:00:00Z" },
    "receivedFrom",
    "Received: “Before” must be later than “From”.",
  ],
  [{ receivedFrom: "yesterday", receivedTo: "2026-11-20T12:00:00Z" }, "receivedFrom", "Received: Wrong."],
] as const) {
  test(`the invalid URL parameter ${path} is named as on the page`, () =>
    assert.equal(invalidText(search, { path, message: "Wrong." }), text));
}

test("saved filters are the shown ones whatever their order, and empty ones make no difference", () => {
  assert.ok(
    isSameSearch({ verdict: "failed", text: "a" }, { text: "a", verdict: "failed", kind: undefined }),
  );
  assert.ok(isSameSearch({ text: "" }, {}));
  assert.ok(!isSameSearch({ text: "a" }, { text: "b" }));
  assert.ok(!isSameSearch({ text: "a" }, { tool: "a" }));
});
