// What a project redacts, or an agent does not store, is nowhere: values of every kind are in every field of both paths,
// of log records and of manual runs, and are searched for in everything that is stored, shown, logged and sent.

import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { builtInRules } from "../../src/model/redaction.ts";
import { canaries, canaryRules, everyCanary, sought, staying } from "../support/canaries.ts";
import { obliging } from "../support/judge-server.ts";
import { everyValue } from "../support/leftovers.ts";
import { type Made, startWatched, type Watched } from "../support/watched-service.ts";

let watched: Watched;
before(async () => {
  watched = await startWatched();
});
after(() => watched?.close());

/** Deleted with all that it has after the test, so that it is not found by the next. */
async function makeProject(t: TestContext, privacy: object, agent: object = {}): Promise<Made> {
  const made = await watched.makeProject(privacy, agent);
  t.after(() => watched.owner.client.delete(`/api/projects/${made.projectId}`).expect(204));
  return made;
}

/** What waits for its span must not have any of the texts; returns how often anything waited. */
function watchWaiting(texts: string[]) {
  const watch = {
    waited: 0,
    async look(): Promise<void> {
      const values = await everyValue(watched.databaseUrl);
      const waiting = values.filter(({ column }) => column === "waiting_records.records");
      watch.waited += waiting.length;
      for (const { text } of waiting)
        assert.deepEqual(
          texts.filter(one => text.includes(one)),
          [],
        );
    },
  };
  return watch;
}

test("what the rules of a project find is in nothing that is stored, shown, logged, mailed or asked of the judge", async t => {
  const { judge } = watched;
  for (const { kind, said, found } of canaries) assert.ok(said.includes(found), kind);
  judge.script = obliging();
  const made = await makeProject(t, canaryRules);
  const watch = watchWaiting(sought);
  await watched.sendEverything(made, everyCanary, watch.look);
  assert.equal(watch.waited > 0, true);
  await watched.alert();
  const { leaks, shown } = await watched.leaksOf(sought, made);
  assert.deepEqual(leaks, []);

  // Keys, names and identity stay as sent; that they are found shows that the search finds something.
  const values = await everyValue(watched.databaseUrl);
  const isStored = (text: string) => values.some(value => value.text.includes(text));
  assert.deepEqual(
    Object.values(staying).filter(text => !isStored(text)),
    [],
  );
  const rules = [...builtInRules, "order"];
  assert.deepEqual(
    rules.filter(rule => ![...shown.values()].some(text => text.includes(`⟦${rule}⟧`))),
    [],
  );
  // What people do with traces was done, not refused.
  const without = ["draft-test", "dry-run", "trace-inputs", "try-scenario", "preview", "results"].filter(
    kind => ![...shown].some(([path, text]) => path.endsWith(kind) && /⟦(?:email|secret)⟧/.test(text)),
  );
  assert.deepEqual(without, []);
  const asked = judge.requests.map(({ material }) => material).join("\n");
  assert.deepEqual(
    rules.filter(rule => !asked.includes(`⟦${rule}⟧`)),
    [],
  );
});

test("of an agent that stores no content, no text of any field is stored, shown, logged, mailed or asked of the judge", async t => {
  const marker = "Marker-of-content-4711";
  const made = await makeProject(t, {}, { content: "none" });
  const texts = [marker, staying.key, staying.eventName];
  const watch = watchWaiting(texts);
  await watched.sendEverything(made, marker, watch.look);
  await watched.alert();
  const { leaks, shown } = await watched.leaksOf(texts, made);
  assert.deepEqual(leaks, []);
  for (const text of [staying.spanName, staying.request, "content_not_stored"])
    assert.ok(
      [...shown.values()].some(one => one.includes(text)),
      text,
    );
});

test("what the judge may not see is stored, and is in no request to the judge", async t => {
  const { judge } = watched;
  const made = await makeProject(t, { judgeRules: ["*"], judgeSeesToolResults: false });
  const before = judge.requests.length;
  await watched.sendEverything(made, everyCanary, async () => {});
  const asked = judge.requests.slice(before).map(({ body }) => JSON.stringify(body));
  for (const rule of builtInRules)
    assert.ok(
      asked.some(text => text.includes(`⟦${rule}⟧`)),
      rule,
    );
  const values = await everyValue(watched.databaseUrl);
  for (const { kind, found } of canaries.filter(({ kind }) => kind !== "own rule")) {
    assert.ok(
      values.some(({ text }) => text.includes(found)),
      kind,
    );
    assert.equal(asked.filter(text => text.includes(found)).length, 0, kind);
  }
});
