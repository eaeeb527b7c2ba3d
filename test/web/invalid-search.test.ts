// Pages name the parameters of their URL that they ignore.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faultsOf as faultsOfLog } from "../../web/pages/ingestion/search.ts";
import { faultsOf as faultsOfInsights } from "../../web/pages/insights/view.ts";

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
