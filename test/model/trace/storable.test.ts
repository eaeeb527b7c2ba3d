// Texts of columns: truncated, valid for PostgreSQL, and known to be whole or not.
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWhole, storable } from "../../../src/model/trace/storable.ts";

const xs = (count: number) => "x".repeat(count);

test("a text is truncated to 500 characters, never within a surrogate pair", () => {
  assert.equal(storable(xs(500)), xs(500));
  assert.equal(storable(xs(501)), `${xs(499)}…`);
  assert.equal(storable(`${xs(498)}😀y`), `${xs(498)}…`);
  assert.equal(storable(`${xs(497)}😀yz`), `${xs(497)}😀…`);
  assert.equal(storable(`${xs(498)}😀`), `${xs(498)}😀`);
});

test("U+0000 and unpaired surrogates become U+FFFD", () => {
  assert.equal(storable("a\0b\ud800c\udc00"), "a\uFFFDb\uFFFDc\uFFFD");
  assert.equal(storable(`${xs(497)}\ud83dyyy`), `${xs(497)}\uFFFDy…`);
});

test("a truncated or altered text is not whole", () => {
  for (const text of [xs(501), `${xs(498)}😀y`, "a\0", "\ud800"]) {
    assert.equal(isWhole(storable(text)), false, JSON.stringify(text.slice(-5)));
  }
  for (const text of ["", "…", xs(499), `${xs(496)}…`]) assert.equal(isWhole(storable(text)), true);
});
