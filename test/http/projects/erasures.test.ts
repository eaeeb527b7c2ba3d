// A dry run over HTTP, as clients poll it: what it found beside traces is searched for once.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { App, Deps } from "../../../src/http/frame/deps.ts";
import { registerErasures } from "../../../src/http/projects/erasures.ts";
import { insertDryRun } from "../../../src/store/erasures.ts";
import { startTestApp } from "../../support/app.ts";
import { testVault } from "../../support/judges.ts";

let searches = 0;
let failing = true;
async function holders() {
  searches += 1;
  if (failing) throw new Error("The thread ended.");
  return { tests: [], notes: [], views: [], more: true };
}
const erasures = { wake: () => {}, holders };
const service = await startTestApp({
  extend: (app: App, deps: Deps) => registerErasures(app, { ...deps, vault: testVault, erasures }),
});
after(() => service.close());

test("a finished dry run is searched for once, however often it is read, and again where that failed", async () => {
  const { client, projectId, accountId } = await service.verifiedAccount();
  const finished = async (value: string) => {
    const sealed = { values: [value] };
    const id = await insertDryRun(service.db, testVault, {
      ...{ projectId, createdBy: accountId, criterion: "userId", sealed },
    });
    await service.db.pool.query("update erasures set state = 'done', finished_at = now() where id = $1", [
      id,
    ]);
    return `/api/erasures/${id}` as const;
  };
  const path = await finished("user-1");
  await client.get(path).expect(500);
  failing = false;
  const read = await Promise.all([client.read(path), client.read(path)]);
  assert.deepEqual(
    [...read, await client.read(path)].map(({ more }) => more),
    [true, true, true],
  );
  assert.equal(searches, 2);
  await client.read(await finished("user-2"));
  assert.equal(searches, 3);
});
