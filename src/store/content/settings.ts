// The settings by which what is left of forgotten traces is stored: those of their agents and projects now.
import type { Intake } from "../../model/content.ts";
import type { StoringRules } from "../../model/privacy.ts";
import { type StoringRow, storingColumn, storingRulesOf } from "../accounts/privacy.ts";
import type { Database } from "../db.ts";
import type { Vault } from "../secrets/vault.ts";

/** `intakeKey` and `privacyRevision`: what storing compares them by. */
export type ForgettingSettings = {
  agentId: string;
  attributes: Intake["attributes"];
  storing: StoringRules | null;
  intakeKey: string;
  privacyRevision: number;
};

export async function findForgettingSettings(
  db: Database,
  vault: Vault,
  agentIds: string[],
): Promise<ForgettingSettings[]> {
  const { rows } = await db.pool.query<
    Omit<ForgettingSettings, "attributes" | "storing"> & Intake["attributes"] & { storing: StoringRow }
  >({
    name: "forgetting_settings",
    text: `select a.id as "agentId", a.attributes_deny as deny, a.attributes_allow as allow, a.intake_key as "intakeKey",
        a.privacy_revision as "privacyRevision", ${storingColumn} as storing
      from agents a join projects p on p.id = a.project_id where a.id = any ($1::uuid[])`,
    values: [agentIds],
  });
  return rows.map(({ deny, allow, storing, ...agent }) => ({
    ...agent,
    attributes: { deny, allow },
    storing: storingRulesOf(vault, storing),
  }));
}
