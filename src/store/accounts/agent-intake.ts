// Changes what may be stored of an agent's traces. Nothing is stored by the settings before once this is committed.
import type pg from "pg";
import { forgetSeconds, type Intake } from "../../model/content.ts";
import { Refusal } from "../../model/refusal.ts";
import { intakeKey } from "./intake-key.ts";

export type IntakeChange = {
  content?: Intake["content"] | undefined;
  contentForgetAfterSeconds?: number | null | undefined;
  attributes?: Intake["attributes"] | undefined;
};

type Row = {
  content: Intake["content"];
  content_forget_after_s: number | null;
  attributes_deny: string[];
  attributes_allow: string[] | null;
  intake_key: string;
};

const selectRow = `select content, content_forget_after_s, attributes_deny, attributes_allow, intake_key from agents`;

export function isIntakeChange(change: IntakeChange): boolean {
  const { content, contentForgetAfterSeconds, attributes } = change;
  return [content, contentForgetAfterSeconds, attributes].some(field => field !== undefined);
}

/** Throws as `changeIntake` does, and changes nothing. */
export async function checkIntake(
  client: pg.PoolClient,
  agentId: string,
  change: IntakeChange,
): Promise<void> {
  const { rows } = await client.query<Row>(`${selectRow} where id = $1`, [agentId]);
  if (rows[0]) secondsOf(change.content ?? rows[0].content, change, rows[0]);
}

/**
 * Call it in a transaction of its own. Storing statements lock the agent's row before any other (`for key share`), so this
 * waits until they are committed, and whatever is stored afterwards compares its settings with these. Throws
 * VALIDATION_ERROR for a time without `forget`, or the other way round.
 */
export async function changeIntake(
  client: pg.PoolClient,
  agentId: string,
  change: IntakeChange,
): Promise<void> {
  const { rows } = await client.query<Row>(`${selectRow} where id = $1 for update`, [agentId]);
  const before = rows[0];
  if (!before) return;
  const content = change.content ?? before.content;
  const seconds = secondsOf(content, change, before);
  const attributes = change.attributes ?? { deny: before.attributes_deny, allow: before.attributes_allow };
  const key = intakeKey({ content, attributes });
  await client.query(
    `update agents set content = $2, content_forget_after_s = $3, attributes_deny = $4, attributes_allow = $5,
      intake_key = $6 where id = $1`,
    [agentId, content, seconds, attributes.deny, attributes.allow, key],
  );
  // What waits was prepared by the settings before, and would be stored with its span.
  if (key !== before.intake_key)
    await client.query("delete from waiting_records where agent_id = $1", [agentId]);
}

function secondsOf(content: Intake["content"], change: IntakeChange, before: Row): number | null {
  const given = change.contentForgetAfterSeconds;
  if (content !== "forget") {
    if ((given ?? null) === null) return null;
    throw invalid("Only for `content: forget`. Leave this out, or set `content` to `forget`.");
  }
  const seconds = given === undefined ? before.content_forget_after_s : given;
  if (seconds !== null) return seconds;
  throw invalid(
    `Enter a time between a minute and a year: ${forgetSeconds.min} to ${forgetSeconds.max.toLocaleString("en")} seconds.`,
  );
}

function invalid(message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues: [{ path: "contentForgetAfterSeconds", message }] });
}
