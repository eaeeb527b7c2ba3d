// The pseudonyms that a project stores in place of an ID: what an erasure looks for beside the ID itself.
import { pseudonymOf } from "../../model/privacy.ts";
import { listPseudonymKeys } from "../accounts/privacy.ts";
import type { Database } from "../db.ts";
import type { Vault } from "../secrets/vault.ts";

/** Under the present key of the project and under its former ones. */
export async function listPseudonyms(
  db: Database,
  vault: Vault,
  projectId: string,
  value: string,
): Promise<{ pseudonyms: string[]; unreadableKeys: number }> {
  const { keys, unreadable } = await listPseudonymKeys(db, vault, projectId);
  return { pseudonyms: keys.map(key => pseudonymOf(key, value)), unreadableKeys: unreadable };
}
