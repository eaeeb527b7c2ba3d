// Pages name the parameters of their URL that they ignore.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faultsOf as faultsOfLog } from "../../web/pages/ingestion/search.ts";
import { askOf, faultsOf as faultsOfInsights, viewOf } from "../../web/pages/insights/view.ts";
import {
  faultsOf as faultsOfResults,
  filtersOf as filtersOfResults,
} from "../../web/pages/tests/results-search.ts";

suite("invalid parameters of a URL", () => {
  test("of Insights are named as on the page", () => {
    const search = { by: "all", range: "eon", interval: "era", form: "song", from: "never", to: "later" };
    assert.deepEqual(faultsOfInsights(search), [
      "Group by: “all” is not a known value.",
      "Time range: “eon” is not a known value.",
      "Interval: “era” is not a known value.",
      "View: “song” is not a known value.",
      "From: “never” is not a time.",
      "To: “later” is not a time.",
    ]);
    const [from, to] = ["2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z"];
    assert.deepEqual(
      faultsOfInsights({ by: "test", range: "custom", interval: "day", form: "table", from, to }),
      [],
    );
    assert.deepEqual(faultsOfInsights({}), []);
  });

  test("of Insights are times beside a range that ends now; without a range, they are the range", () => {
    const [from, to] = ["2026-11-20T12:00:00.000Z", "2026-11-21T12:00:00.000Z"];
    assert.deepEqual(faultsOfInsights({ range: "7d", from, to }), [
      "From: used only with the time range “Custom”.",
      "To: used only with the time range “Custom”.",
    ]);
    assert.deepEqual(faultsOfInsights({ from, to }), []);
    assert.deepEqual(askOf(viewOf({ from, to })).span, { from, to });
    assert.deepEqual(askOf(viewOf({ from: "never" })).span, { hours: 24 });
  });

  test("of a test's results are named as on the page", () => {
    assert.deepEqual(faultsOfResults({ kind: "all", outcome: "lost", from: "never", to: "later" }), [
      "Kind: “all” is not a known value.",
      "Outcome: “lost” is not a known value.",
      "From: “never” is not a time.",
      "To: “later” is not a time.",
    ]);
    const [from, to] = ["2026-11-20T12:00:00.000Z", "2026-11-21T12:00:00.000Z"];
    assert.deepEqual(faultsOfResults({ from: to, to: from }), ["To: must be later than “From”."]);
    assert.deepEqual(faultsOfResults({ kind: "manual", outcome: "failed", from, to }), [
      "Outcome: not available for test runs.",
      "From: not available for test runs.",
      "To: not available for test runs.",
    ]);
    assert.deepEqual(faultsOfResults({ outcome: "failed", from, to }), []);
    assert.deepEqual([faultsOfResults({}), faultsOfResults({ kind: "manual" })], [[], []]);
    const periodOf = (search: object) => filtersOfResults(search).period;
    assert.deepEqual([periodOf({ from }), periodOf({ to, from: "never" })], [{ from }, { to }]);
    assert.equal(periodOf({ from: to, to: from }), undefined);
  });

  test("of the ingestion log are named as on the page", () => {
    assert.deepEqual(faultsOfLog({ code: "toString", key: "mine", time: "year", service: "any name" }), [
      "Code: “toString” is not a known value.",
      "Key: “mine” is not a known value.",
      "Time: “year” is not a known value.",
    ]);
    const key = "0197a0de-0000-7000-8000-000000000001";
    assert.deepEqual(faultsOfLog({ code: "OTLP_NO_SPANS", key, time: "day", service: "shop" }), []);
  });
});
