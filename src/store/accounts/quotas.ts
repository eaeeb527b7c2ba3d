// How many projects, agents, keys and tests an account may have.
import type { Account } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../db.ts";

const noun = {
  projects: "select from projects where account_id = $1",
  agents: "select from agents a join projects p on p.id = a.project_id where p.account_id = $1",
  keys: "select from keys k join projects p on p.id = k.project_id where p.account_id = $1",
  tests: `select from test_cases t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where p.account_id = $1`,
} as const;

export type QuotaNoun = keyof typeof noun;

/** Far more than a person makes by hand; few until its email is verified. */
export const quotas: Record<QuotaNoun, { verified: number; unverified: number }> = {
  projects: { verified: 1_000, unverified: 20 },
  agents: { verified: 10_000, unverified: 100 },
  keys: { verified: 10_000, unverified: 100 },
  tests: { verified: 50_000, unverified: 500 },
};

/** Throws CONFLICT. Requests that arrive together may exceed a quota by as many as one account may have in progress. */
export async function requireQuota(
  db: Database,
  account: Account,
  of: QuotaNoun,
  { verified, unverified } = quotas[of],
): Promise<void> {
  const max = account.emailVerified ? verified : unverified;
  const { rows } = await db.pool.query(`${noun[of]} offset $2 limit 1`, [account.id, max - 1]);
  if (rows.length === 0) return;
  throw new Refusal("CONFLICT", {
    message: `Your account has ${max.toLocaleString("en-US")} ${of}, and can have no more.`,
    hint: account.emailVerified ? `Delete ${of} you no longer need.` : "Verify your email to create more.",
  });
}
