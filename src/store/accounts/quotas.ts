// Counts how many projects, agents, keys, tests, access tokens and erasures an account has.
import type { Account } from "../../model/account.ts";
import { type QuotaNoun, quotaNouns, unverifiedQuotas } from "../../model/quotas.ts";
import { Refusal } from "../../model/refusal.ts";
import type { Database } from "../db.ts";

const rowsOf: Record<QuotaNoun, string> = {
  projects: "select from projects where account_id = $1",
  agents: "select from agents a join projects p on p.id = a.project_id where p.account_id = $1",
  keys: "select from keys k join projects p on p.id = k.project_id where p.account_id = $1",
  tests: `select from test_cases t join agents a on a.id = t.agent_id join projects p on p.id = a.project_id
    where p.account_id = $1`,
  tokens: "select from access_tokens where account_id = $1",
  erasures: "select from erasures e join projects p on p.id = e.project_id where p.account_id = $1",
};

/**
 * Throws CONFLICT. `quota`: once the email is verified. Requests that arrive together may exceed it by as many as one account may
 * have in progress.
 */
export async function requireQuota(
  db: Database,
  account: Account,
  noun: QuotaNoun,
  quota: number,
): Promise<void> {
  const max = account.emailVerified ? quota : Math.min(unverifiedQuotas[noun], quota);
  const { rows } = await db.pool.query(`${rowsOf[noun]} offset $2 limit 1`, [account.id, max - 1]);
  if (rows.length === 0) return;
  const what = quotaNouns[noun];
  throw new Refusal("CONFLICT", {
    message: `Your account has ${max.toLocaleString("en-US")} ${what}, and can have no more.`,
    // The record of an erasure goes only with its project.
    hint: account.emailVerified
      ? `Delete ${noun === "erasures" ? "projects" : what} you no longer need.`
      : "Verify your email to create more.",
  });
}
