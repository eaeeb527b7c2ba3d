// The ingestion log at rest: a row for each minute, code, key, service name and agent, kept seven days.
import type { IngestionAnswer, IngestionCode, Reasons } from "../../model/ingestion.ts";
import type { Database } from "../db.ts";
import type { Listing } from "../listing.ts";

/** What several requests had in common, and their sums. */
export type IngestionCount = IngestionAnswer & { projectId: string; keyId: string; requests: number };

/**
 * Adds the counts, distinct in all but their sums, to the rows of the current minute by the database's clock. Those
 * of a project that is deleted, or is about to be, are let go.
 */
export async function addIngestion(db: Database, counts: IngestionCount[]): Promise<void> {
  const column = <T>(value: (count: IngestionCount) => T): T[] => counts.map(value);
  await db.pool.query({
    name: "add-ingestion",
    // In one order everywhere: two processes that add to the same rows never wait for each other in a circle.
    text: `insert into ingestion_minutes
        (id, project_id, at, code, key_id, service_name, agent_id, requests, spans, reasons)
      select uuidv7(date_trunc('minute', now()) - now()), c.project_id, date_trunc('minute', now()), c.code, c.key_id,
        c.service_name, c.agent_id, c.requests, c.spans, c.reasons::jsonb
      from unnest($1::uuid[], $2::text[], $3::uuid[], $4::text[], $5::uuid[], $6::bigint[], $7::bigint[], $8::text[])
        as c (project_id, code, key_id, service_name, agent_id, requests, spans, reasons)
      join projects p on p.id = c.project_id
      order by c.project_id, c.code, c.key_id, c.service_name, c.agent_id
      for key share of p skip locked
      on conflict on constraint ingestion_minutes_counted do update set
        requests = ingestion_minutes.requests + excluded.requests,
        spans = ingestion_minutes.spans + excluded.spans,
        reasons = case when excluded.reasons = '{}' then ingestion_minutes.reasons
          else add_counts(ingestion_minutes.reasons, excluded.reasons) end`,
    values: [
      column(count => count.projectId),
      column(count => count.code),
      column(count => count.keyId),
      column(count => count.serviceName),
      column(count => count.agentId),
      column(count => count.requests),
      column(count => count.spans),
      column(count => JSON.stringify(count.reasons)),
    ],
  });
}

/** Deletes what is older than seven days by the database's clock; returns how many rows. */
export async function deleteOldIngestion(db: Database): Promise<number> {
  const { rowCount } = await db.pool.query(
    "delete from ingestion_minutes where id < (select uuidv7(interval '-7 days'))",
  );
  return rowCount ?? 0;
}

/** `at` begins the minute. `keyName` is null once the key is revoked. */
export type IngestionMinute = {
  id: string;
  at: Date;
  code: IngestionCode;
  keyId: string;
  keyName: string | null;
  serviceName: string | null;
  agentId: string | null;
  requests: number;
  spans: number;
  reasons: Reasons;
};

/** Minutes that begin within: `from` counts from the beginning of its minute, `to` is exclusive. */
export type IngestionRange = { from?: Date | undefined; to?: Date | undefined };

/** Every filter narrows; absent means any. */
export type IngestionFilters = IngestionRange & {
  code?: IngestionCode | undefined;
  keyId?: string | undefined;
  serviceName?: string | undefined;
};

/** The rows of the project's last seven days that pass the filters, newest first. */
export async function listIngestion(
  db: Database,
  projectId: string,
  { from, to, code, keyId, serviceName }: IngestionFilters,
  { before, rowsMax }: Listing,
): Promise<IngestionMinute[]> {
  const { rows } = await db.pool.query<IngestionMinute>(
    `select m.id, m.at, m.code, m.key_id as "keyId", k.name as "keyName", m.service_name as "serviceName",
        m.agent_id as "agentId", m.requests, m.spans, m.reasons
      from ingestion_minutes m left join keys k on k.id = m.key_id
      where m.project_id = $1 and m.id < $2 and m.id < $3 and m.id >= $4
        and m.id >= (select uuidv7(interval '-7 days'))
        and ($5::text is null or m.code = $5) and ($6::uuid is null or m.key_id = $6)
        and ($7::text is null or m.service_name = $7)
      order by m.id desc limit $8`,
    [
      projectId,
      before,
      firstId(to ?? latest),
      firstId(minuteOf(from ?? earliest)),
      code,
      keyId,
      serviceName,
      rowsMax,
    ],
  );
  return rows;
}

/** `requests`: a request that names several services counts once for each. `spans` were stored. */
export type IngestionSummary = {
  codes: { code: IngestionCode; requests: number; spans: number }[];
  services: {
    serviceName: string;
    /** The agent that bears the name now. */
    agentId: string | null;
    /** Whether no agent of the project bears it. */
    unknown: boolean;
    /** The beginning of the minute of its last request. */
    lastSeenAt: Date;
    requests: number;
    spans: number;
    /** Requests by code. */
    codes: Partial<Record<IngestionCode, number>>;
  }[];
};

const servicesMax = 200;

/** Of the last seven days: codes, the most frequent first; services, those of agents first, each newest first. */
export async function summarizeIngestion(
  db: Database,
  projectId: string,
  { from, to }: IngestionRange,
): Promise<IngestionSummary> {
  const within = `from ingestion_minutes
    where project_id = $1 and at < $2 and at >= greatest($3, date_trunc('minute', now() - interval '7 days'))`;
  const values = [projectId, to ?? latest, minuteOf(from ?? earliest)];
  const [codes, services] = await Promise.all([
    db.pool.query<IngestionSummary["codes"][number]>(
      `select code, sum(requests)::bigint as requests, sum(spans)::bigint as spans ${within}
        group by code order by 2 desc, code`,
      values,
    ),
    db.pool.query<IngestionSummary["services"][number]>(
      `select s.service_name as "serviceName", a.id as "agentId", a.id is null as unknown, max(s.at) as "lastSeenAt",
          sum(s.requests)::bigint as requests, sum(s.spans)::bigint as spans,
          jsonb_object_agg(s.code, s.requests) as codes
        from (
          select service_name, code, max(at) as at, sum(requests)::bigint as requests, sum(spans)::bigint as spans
          ${within} and service_name is not null group by service_name, code
        ) s
        left join agents a on a.project_id = $1 and a.otlp_service_name = s.service_name
        group by s.service_name, a.id
        order by unknown, "lastSeenAt" desc, s.service_name limit $4`,
      [...values, servicesMax],
    ),
  ]);
  return { codes: codes.rows, services: services.rows };
}

const earliest = new Date(0);
const latest = new Date(Date.UTC(9999, 0));

function minuteOf(instant: Date): Date {
  return new Date(instant.getTime() - (instant.getTime() % 60_000));
}

/** The lowest id whose time is not before the instant. */
function firstId(instant: Date): string {
  const hex = Math.max(0, instant.getTime()).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
