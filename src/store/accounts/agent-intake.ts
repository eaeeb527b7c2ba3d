// Sets what may be stored of an agent's traces. After a change, nothing is stored by the settings before once this is committed.
import type pg from "pg";
import { everything, forgetSeconds, type Intake } from "../../model/content.ts";
import { Refusal } from "../../model/refusal.ts";
import { intakeKey } from "./intake-key.ts";

export type IntakeChange = {
  content?: Intake["content"] | undefined;
  contentForgetAfterSeconds?: number | null | undefined;
  attributes?: Intake["attributes"] | undefined;
};

type Settings = Intake & { seconds: number | null };

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

/** The settings of a new agent. Throws as `changeIntake` does. */
export function newIntake(given: IntakeChange): Settings & { key: string } {
  return changed({ ...everything, seconds: null }, given);
}

/** Throws as `changeIntake` does, and changes nothing. */
export async function checkIntake(
  client: pg.PoolClient,
  agentId: string,
  change: IntakeChange,
): Promise<void> {
  const { rows } = await client.query<Row>(`${selectRow} where id = $1`, [agentId]);
  if (rows[0]) changed(settingsOf(rows[0]), change);
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
  const { content, seconds, attributes, key } = changed(settingsOf(before), change);
  await client.query(
    `update agents set content = $2, content_forget_after_s = $3, attributes_deny = $4, attributes_allow = $5,
      intake_key = $6 where id = $1`,
    [agentId, content, seconds, attributes.deny, attributes.allow, key],
  );
  // What waits was prepared by the settings before, and would be stored with its span.
  if (key !== before.intake_key)
    await client.query("delete from waiting_records where agent_id = $1", [agentId]);
}

function settingsOf(row: Row): Settings {
  return {
    content: row.content,
    seconds: row.content_forget_after_s,
    attributes: { deny: row.attributes_deny, allow: row.attributes_allow },
  };
}

function changed(before: Settings, change: IntakeChange): Settings & { key: string } {
  const { content = before.content, attributes = before.attributes } = change;
  const seconds = secondsOf(content, change, before);
  return { content, seconds, attributes, key: intakeKey({ content, attributes }) };
}

function secondsOf(content: Intake["content"], change: IntakeChange, before: Settings): number | null {
  const given = change.contentForgetAfterSeconds;
  if (content !== "forget") {
    if ((given ?? null) === null) return null;
    throw invalid("Only for `content: forget`. Leave this out, or set `content` to `forget`.");
  }
  const seconds = given === undefined ? before.seconds : given;
  if (seconds !== null) return seconds;
  throw invalid(
    `Enter a time between a minute and a year: ${forgetSeconds.min} to ${forgetSeconds.max.toLocaleString("en")} seconds.`,
  );
}

function invalid(message: string): Refusal {
  return new Refusal("VALIDATION_ERROR", { issues: [{ path: "contentForgetAfterSeconds", message }] });
}
