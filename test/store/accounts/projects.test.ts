// Projects in the database: pages of them, and what is deleted with one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  deleteProject,
  findProject,
  insertProject,
  listProjects,
  renameProject,
} from "../../../src/store/accounts/projects.ts";
import type { Database } from "../../../src/store/db.ts";
import { newest } from "../../../src/store/listing.ts";
import { makeAccount, makeAgentRow, makeProject, openTestDatabase } from "../../support/rows.ts";

let db: Database;
let close: () => Promise<void>;
before(async () => {
  ({ db, close } = await openTestDatabase());
});
after(() => close());

test("an account's projects are listed newest first, in pages, without those of other accounts", async () => {
  const accountId = await makeAccount(db);
  const names = ["1", "2", "3", "4", "5"];
  for (const name of names) {
    await insertProject(db, accountId, name);
    await makeProject(db);
  }
  const first = await listProjects(db, accountId, { before: newest, rowsMax: 3 });
  const rest = await listProjects(db, accountId, { before: first.at(-1)!.id, rowsMax: 3 });
  assert.deepEqual(
    [...first, ...rest].map(({ name }) => name),
    names.toReversed(),
  );
});

test("a project can be found, renamed and deleted with its agents", async () => {
  const project = await insertProject(db, await makeAccount(db), "Old");
  const agentId = await makeAgentRow(db, { projectId: project.id });
  assert.deepEqual(await findProject(db, project.id), project);
  assert.deepEqual(await renameProject(db, project.id, "New"), { ...project, name: "New" });
  await deleteProject(db, project.id);
  assert.equal(await findProject(db, project.id), undefined);
  assert.equal(await renameProject(db, project.id, "Newer"), undefined);
  const { rowCount } = await db.pool.query("select from agents where id = $1", [agentId]);
  assert.equal(rowCount, 0);
});
