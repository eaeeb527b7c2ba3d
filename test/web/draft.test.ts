// A draft of settings that are saved elsewhere meanwhile: nothing typed is lost, and nothing is overwritten unseen.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  beginDraft,
  changedFields,
  fieldsDrafting,
  followSaved,
  isChanged,
  overwritesUnseen,
  settleDraft,
} from "../../web/forms/draft.ts";

type Saved = { rules: string[] };
const drafting = {
  toDraft: ({ rules }: Saved) => ({ text: rules.join("\n") }),
  fromDraft: ({ text }: { text: string }): Saved => ({ rules: text.split("\n").filter(Boolean) }),
};
const [none, theirs, both]: Saved[] = [{ rules: [] }, { rules: ["theirs"] }, { rules: ["theirs", "mine"] }];
const typed = (text: string) => ({ ...beginDraft(none!, drafting), draft: { text } });

test("a draft without changes follows what is saved elsewhere", () => {
  const state = followSaved(typed("\n"), theirs!, drafting);
  assert.deepEqual(state, { draft: { text: "theirs" }, base: theirs, read: theirs, isOutdated: false });
});

test("a draft with changes stays, and says that other settings were saved", () => {
  const state = followSaved(typed("mine"), theirs!, drafting);
  assert.deepEqual([state.draft.text, state.isOutdated], ["mine", true]);
  assert.equal(followSaved(state, theirs!, drafting), state);
  const undone = followSaved(state, { rules: [] }, drafting);
  assert.deepEqual([undone.draft.text, undone.isOutdated], ["mine", false]);
});

test("the same change in both places is no conflict", () => {
  const state = followSaved(typed("theirs"), theirs!, drafting);
  assert.equal(state.isOutdated, false);
  assert.equal(isChanged(state, drafting), false);
});

test("after saving, the draft is what was saved, also before that is read", () => {
  const state = typed("theirs\n\nmine");
  const settled = settleDraft(state, state.draft, both!, drafting);
  assert.equal(settled.draft.text, "theirs\nmine");
  assert.equal(followSaved(settled, none!, drafting), settled);
  const read = followSaved(settled, { ...both! }, drafting);
  assert.deepEqual([read.draft, read.isOutdated, isChanged(read, drafting)], [settled.draft, false, false]);
});

test("what is typed while the form is being saved stays", () => {
  const sent = typed("theirs");
  const later = { ...sent, draft: { text: "theirs\nmine" } };
  const settled = followSaved(settleDraft(later, sent.draft, theirs!, drafting), theirs!, drafting);
  assert.deepEqual([settled.draft.text, settled.isOutdated], ["theirs\nmine", false]);
  assert.equal(isChanged(settled, drafting), true);
});

test("saving overwrites unseen what was saved elsewhere since the form last read it", () => {
  const state = typed("mine");
  const overwrites = (saved: Saved, now = state) => overwritesUnseen(now, saved, drafting);
  assert.deepEqual(
    [overwrites({ rules: [] }), overwrites(theirs!), overwrites({ rules: ["mine"] })],
    [false, true, false],
  );
  assert.equal(overwrites(theirs!, typed("")), true, "also a draft without changes, which follows");
  const told = followSaved(state, theirs!, drafting);
  assert.deepEqual(
    [overwrites(theirs!, told), overwrites(both!, told), overwrites(none!, told)],
    [false, true, false],
  );
});

test("the same settings as another object are no news", () => {
  const state = followSaved(typed("mine"), theirs!, drafting);
  assert.equal(followSaved(state, { rules: ["theirs"] }, drafting), state);
});

test("a PATCH has only the fields that differ", () => {
  const before = { name: "a", type: "x", rules: ["r"], other: null };
  assert.deepEqual(changedFields(before, { ...before, rules: ["r"], name: "b" }), { name: "b" });
  assert.deepEqual(changedFields(before, { ...before }), {});
});

type Fields = { name: string; service: string | null };
const byField = fieldsDrafting<Fields, Record<keyof Fields, string>>(
  ({ name, service }) => ({ name, service: service ?? "" }),
  ({ name, service }) => ({ name, service: service || null }),
);
const renamed = (name: string) => {
  const state = beginDraft<Fields, Record<keyof Fields, string>>({ name: "a", service: null }, byField);
  return { ...state, draft: { ...state.draft, name } };
};

test("fields that only others changed are taken over, and overwrite nothing unseen", () => {
  const saved = { name: "a", service: "theirs" };
  const state = followSaved(renamed("mine"), saved, byField);
  assert.deepEqual([state.draft, state.isOutdated], [{ name: "mine", service: "theirs" }, false]);
  assert.deepEqual(changedFields(saved, byField.fromDraft(state.draft)), { name: "mine" });
  assert.equal(overwritesUnseen(renamed("mine"), saved, byField), false);
  assert.equal(overwritesUnseen(renamed("a"), saved, byField), true, "a draft without changes follows");
});

test("a field that both changed is a conflict until it is as before, or the same", () => {
  const state = followSaved(renamed("mine"), { name: "theirs", service: "new" }, byField);
  assert.deepEqual([state.draft, state.isOutdated], [{ name: "mine", service: "new" }, true]);
  assert.equal(overwritesUnseen(renamed("mine"), { name: "theirs", service: null }, byField), true);
  const undone = followSaved(state, { name: "a", service: "newer" }, byField);
  assert.deepEqual([undone.draft, undone.isOutdated], [{ name: "mine", service: "newer" }, false]);
  const same = followSaved(state, { name: "mine", service: "new" }, byField);
  assert.deepEqual([same.isOutdated, isChanged(same, byField)], [false, false]);
});
