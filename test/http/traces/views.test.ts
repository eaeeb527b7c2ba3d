// Saved views of the list of traces: saved by name, listed, deleted, and deleted with their agent.
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeAgent } from "../../support/app.ts";
import { world } from "../../support/world.ts";

const service = world({ roles: ["http"] });

async function openViews() {
  const { id: agentId } = await makeAgent(service.owner);
  const path = `/api/agents/${agentId}/trace-views` as const;
  return {
    agentId,
    save: (name: unknown, search: unknown = {}) => service.client.post(path, { name, search }),
    names: async (): Promise<string[]> =>
      (await service.read(path)).items.map(({ name }: { name: string }) => name),
  };
}

test("views are listed by name, and saving one again changes its filters", async () => {
  const { agentId, save, names } = await openViews();
  const search = { verdict: "failed", within: "7d" };
  const { body: first } = await save("  Slow ones ", search).expect(200);
  assert.deepEqual(first, { id: first.id, agentId, name: "Slow ones", search });
  await save("broken").expect(200);
  await save("All", { order: "oldest" }).expect(200);
  const { body: again } = await save("Slow ones", { durationMinMs: "1000" }).expect(200);
  assert.deepEqual(again, { ...first, search: { durationMinMs: "1000" } });
  assert.deepEqual(await names(), ["All", "broken", "Slow ones"]);
  await service.client.delete(`/api/trace-views/${first.id}`).expect(204);
  await service.client.delete(`/api/trace-views/${first.id}`).expect(404);
  assert.deepEqual(await names(), ["All", "broken"]);
});

test("an agent has at most 100 views, also if many are saved at once; known ones can still be changed", async () => {
  const { save, names } = await openViews();
  const replies = await Promise.all(Array.from({ length: 103 }, (_, number) => save(`View ${number}`)));
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(100).fill(200), ...Array(3).fill(409)]);
  const [known] = await names();
  await save(known, { text: "changed" }).expect(200);
  assert.equal((await names()).length, 100);
});

test("invalid views are refused with the place of the mistake", async () => {
  const { save, names } = await openViews();
  const letters = [..."abcdefghijklmnopqrstuvwxyz"];
  const many = Object.fromEntries(
    letters.flatMap(one => [
      [one, ""],
      [`${one}${one}`, ""],
    ]),
  );
  const cases: [name: unknown, search: unknown, path: string][] = [
    ["", {}, "name"],
    ["x".repeat(61), {}, "name"],
    ["a\0b", {}, "name"],
    ["a", "verdict=failed", "search"],
    ["a", { verdict: 1 }, "search.verdict"],
    ["a", { text: "x".repeat(501) }, "search.text"],
    ["a", many, "search"],
  ];
  for (const [name, search, path] of cases) {
    const { body } = await save(name, search).expect(400);
    assert.ok(
      body.issues!.some((issue: { path: string }) => issue.path.startsWith(path)),
      JSON.stringify(body),
    );
  }
  assert.deepEqual(await names(), []);
});

test("views are deleted with their agent", async () => {
  const { agentId, save } = await openViews();
  await save("Mine").expect(200);
  await service.client.delete(`/api/agents/${agentId}`).expect(204);
  const { rows } = await service.db.pool.query("select from trace_views where agent_id = $1", [agentId]);
  assert.equal(rows.length, 0);
});
