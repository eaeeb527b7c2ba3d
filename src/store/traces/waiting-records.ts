// Log records that wait for their span: stores them, and drops those that have waited too long.
import type { Intake } from "../../model/content.ts";
import { nameSeparator, storableName } from "../../model/trace/storable.ts";
import type { Brought } from "../../reading/conventions/log-records.ts";
import { intakeKey } from "../accounts/intake-key.ts";
import { availableRows, partsOf, placeOf } from "../cluster/routing.ts";
import { type Database, transaction } from "../db.ts";
import { newId } from "../new-id.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { revoked } from "./live-keys.ts";
import { type NamedTrace, named } from "./otlp-ids.ts";
import { IntakeChanged } from "./write.ts";

/** The records of one span from one request. */
export type RecordsWrite = {
  keyId: string;
  agentId: string;
  otlpTraceId: string;
  /** 16 hexadecimal characters. */
  spanId: string;
  /** Eight bytes for each record. */
  recordKeys: Buffer;
  /** Compressed. `rawLength`: bytes before compression. */
  bytes: Buffer;
  rawLength: number;
  brought: Brought;
  /** The settings by which they were changed before; absent: they are as they arrived. */
  intake?: Intake | undefined;
  /** The revision of the privacy settings that they were redacted by. */
  privacyRevision?: number | undefined;
};

type Row = RecordsWrite & { id: string };

const waiting = multiRow<Row>(2, {
  agent_id: ["uuid", write => write.agentId],
  otlp_trace_id: ["text", write => write.otlpTraceId],
  id: ["uuid", write => write.id],
  raw_length: ["int", write => write.rawLength],
  has_input: ["bool", write => write.brought.input],
  has_reply: ["bool", write => write.brought.reply],
  tools: ["text", write => write.brought.tools.map(storableName).join(nameSeparator)],
  intake: ["text", write => intakeKey(write.intake)],
  privacy_revision: ["int", write => write.privacyRevision ?? null],
  span_key: ["bytes", write => Buffer.from(write.spanId, "hex")],
  record_keys: ["bytes", write => write.recordKeys],
  records: ["bytes", write => write.bytes],
});

const rowsMax = 1_000;
const bytesMax = 16 * 1024 * 1024;

/**
 * Stores the records, all sent with one key and of one agent. Throws UNAUTHORIZED if the key was revoked or expired meanwhile,
 * IntakeChanged if what may be stored changed. Returns the ids of the rows.
 */
export async function insertWaiting(db: Database, writes: RecordsWrite[]): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let at = 0; at < writes.length; ) {
    const portion: Row[] = [];
    for (let bytes = 0; at < writes.length && portion.length < rowsMax && bytes < bytesMax; at++) {
      portion.push({ ...writes[at]!, id: newId() });
      bytes += writes[at]!.bytes.length;
    }
    const place = await placeOf(db, portion[0]!.agentId);
    const { rows } = await place.pool.query<{ live: boolean; fits: boolean }>({
      name: "insert_waiting_records",
      text: `with item as materialized (select * from ${waiting.from}), agent as materialized (
          select id, intake_key, privacy_revision from agents where id in (select agent_id from item) order by id for key share
        ), live as materialized (
          select id from keys where id = $1 and (expires_at is null or expires_at > now()) for key share
        ), fitting as (
          select bool_and(coalesce(agent.intake_key = item.intake and agent.privacy_revision = item.privacy_revision, true)) as fits
          from item left join agent on agent.id = item.agent_id
        ), added as (insert into waiting_records (agent_id, otlp_trace_id, id, key_id, raw_length, has_input, has_reply, tools,
          span_key, record_keys, records)
        select item.agent_id, item.otlp_trace_id, item.id, live.id, item.raw_length, item.has_input, item.has_reply,
          string_to_array(item.tools, E'\\x1f'), ${waiting.bytes("span_key")}, ${waiting.bytes("record_keys")},
          ${waiting.bytes("records")}
        from item cross join live cross join fitting where fits returning 1)
        select exists (select from live) as live, fits from fitting left join (select count(*) from added) a on true`,
      values: [portion[0]!.keyId, ...waiting.values(portion)],
    });
    if (!rows[0]!.live) throw revoked();
    if (!rows[0]!.fits) throw new IntakeChanged(false);
    for (const { id } of portion) ids.add(id);
  }
  return ids;
}

/** How many records wait or waited, by who sent them. */
export type SentRecords = {
  agentId: string;
  projectId: string;
  keyId: string;
  serviceName: string | null;
  records: number;
};

/** The traces named by records that have waited this long. */
export async function listOverdue(db: Database, waitMs: number): Promise<NamedTrace[]> {
  return availableRows<NamedTrace>(db, {
    name: "list_overdue_records",
    text: `select distinct agent_id as "agentId", otlp_trace_id as "otlpTraceId" from (
        select agent_id, otlp_trace_id from waiting_records
        where received_at < now() - $1::float8 * interval '1 ms' order by received_at limit $2
      ) oldest`,
    values: [waitMs, rowsMax],
  });
}

/** Deletes the records for these traces that have waited this long. */
export async function deleteOverdue(
  db: Database,
  waitMs: number,
  traces: NamedTrace[],
): Promise<SentRecords[]> {
  const deleted: SentRecords[] = [];
  for (const [place, part] of await partsOf(db, traces))
    deleted.push(...(await deleteIn(place, waitMs, part)));
  return deleted;
}

async function deleteIn(db: Database, waitMs: number, traces: NamedTrace[]): Promise<SentRecords[]> {
  return transaction(db, async client => {
    // Skipping what another process deletes or joins right now.
    const { rows } = await client.query<SentRecords>({
      name: "delete_overdue_records",
      text: `with overdue as materialized (
          select agent_id, otlp_trace_id, id from waiting_records
          where (agent_id, otlp_trace_id) in (select * from ${named(2).from})
            and received_at < now() - $1::float8 * interval '1 ms'
          for update skip locked
        ), gone as (
          delete from waiting_records w using overdue o
          where w.agent_id = o.agent_id and w.otlp_trace_id = o.otlp_trace_id and w.id = o.id
          returning w.agent_id, w.key_id, length(w.record_keys) / 8 as records
        )
        select a.id as "agentId", a.project_id as "projectId", a.otlp_service_name as "serviceName",
          gone.key_id as "keyId", sum(gone.records)::int as records
        from gone join agents a on a.id = gone.agent_id
        group by a.id, a.project_id, a.otlp_service_name, gone.key_id`,
      values: [waitMs, ...named(2).values(traces)],
    });
    return rows;
  });
}
