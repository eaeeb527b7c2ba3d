// The ingestion log: a row per minute, code, key, service name and agent, kept for seven days.
import type {
  DroppedRecords,
  IngestionAnswer,
  IngestionCode,
  Reasons,
  Rejection,
} from "../../model/ingestion.ts";
import type { Database } from "../db.ts";
import { idAt, type Listing } from "../listing.ts";
import { newId } from "../new-id.ts";
import { multiRow } from "../parameters/multi-row.ts";

/** Requests that have everything but their sums in common. */
export type IngestionCount = IngestionAnswer & {
  projectId: string;
  keyId: string;
  requests: number;
  /** When the latest of them was refused, by `performance.now()`. */
  rejectedAt: number;
};

const items = multiRow<IngestionCount>(1, {
  id: ["uuid", newId],
  project_id: ["uuid", count => count.projectId],
  code: ["text", count => count.code],
  key_id: ["uuid", count => count.keyId],
  service_name: ["text", count => count.serviceName],
  agent_id: ["uuid", count => count.agentId],
  requests: ["bigint", count => count.requests],
  spans: ["bigint", count => count.spans],
  reasons: ["text", count => JSON.stringify(count.reasons)],
  records: ["bigint", count => count.records ?? 0],
  dropped: ["text", count => JSON.stringify(count.dropped ?? {})],
  rejection: ["text", ({ rejection }) => rejection && JSON.stringify(rejection)],
  rejected_ms_ago: ["float8", ({ rejectedAt }) => performance.now() - rejectedAt],
});

/**
 * Adds the counts, distinct in all but their sums, to the rows of the current minute by the database's clock. Counts of
 * a project that is deleted, or is being deleted, are dropped.
 */
export async function addIngestion(db: Database, counts: IngestionCount[]): Promise<void> {
  // On a cluster, locking projects waits for changes of any. A project that goes meanwhile fails the foreign key.
  if (!db.places) return add(db, counts, "for key share of p skip locked");
  await add(db, counts, "").catch(error => {
    if (error.code !== "23503") throw error;
    return add(db, counts, "");
  });
}

async function add(db: Database, counts: IngestionCount[], locking: string): Promise<void> {
  await db.pool.query({
    name: "add-ingestion",
    // Sorted, so that two processes that add to the same rows never deadlock.
    text: `insert into ingestion_minutes
        (id, project_id, at, code, key_id, service_name, agent_id, requests, spans, reasons, records,
          dropped, rejection, rejected_at)
      select id_at(date_trunc('minute', now()), item.id), item.project_id, date_trunc('minute', now()), item.code,
        item.key_id, item.service_name, item.agent_id, item.requests, item.spans, item.reasons::jsonb,
        item.records, item.dropped::jsonb, item.rejection::jsonb,
        case when item.rejection is not null then now() - item.rejected_ms_ago * interval '1 ms' end
      from ${items.from}
      join projects p on p.id = item.project_id
      order by item.project_id, item.code, item.key_id, item.service_name, item.agent_id
      ${locking}
      on conflict on constraint ingestion_minutes_counted do update set
        requests = ingestion_minutes.requests + excluded.requests,
        spans = ingestion_minutes.spans + excluded.spans,
        reasons = case when excluded.reasons = '{}' then ingestion_minutes.reasons
          else add_counts(ingestion_minutes.reasons, excluded.reasons) end,
        records = ingestion_minutes.records + excluded.records,
        dropped = case when excluded.dropped = '{}' then ingestion_minutes.dropped
          else add_counts(ingestion_minutes.dropped, excluded.dropped) end,
        rejection = case when excluded.rejected_at >= coalesce(ingestion_minutes.rejected_at, '-infinity')
          then excluded.rejection else ingestion_minutes.rejection end,
        rejected_at = greatest(ingestion_minutes.rejected_at, excluded.rejected_at)`,
    values: items.values(counts),
  });
}

/** Deletes rows older than seven days by the database's clock; returns their number. */
export async function deleteOldIngestion(db: Database): Promise<number> {
  const { rowCount } = await db.pool.query(
    "delete from ingestion_minutes where id < (select id_at(now() - interval '7 days'))",
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
  records: number;
  dropped: DroppedRecords;
  /** The latest rejected one of the requests; null if none was. */
  rejection: Rejection | null;
  rejectedAt: Date | null;
};

/** Minutes that begin within: `from` counts from the beginning of its minute, `to` is exclusive. */
export type IngestionRange = { from?: Date | undefined; to?: Date | undefined };

/** Absent: any. */
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
        m.agent_id as "agentId", m.requests, m.spans, m.reasons,
        m.records, m.dropped, m.rejection, m.rejected_at as "rejectedAt"
      from ingestion_minutes m left join keys k on k.id = m.key_id
      where m.project_id = $1 and m.id < $2 and m.id < $3 and m.id >= $4
        and m.id >= (select id_at(now() - interval '7 days'))
        and ($5::text is null or m.code = $5) and ($6::uuid is null or m.key_id = $6)
        and ($7::text is null or m.service_name = $7)
      order by m.id desc limit $8`,
    [
      projectId,
      before,
      idAt((to ?? latest).getTime()),
      idAt(minuteOf(from ?? earliest).getTime()),
      code,
      keyId,
      serviceName,
      rowsMax,
    ],
  );
  return rows;
}

/** `keyName` is null once the key is revoked. */
export type LastRejection = Rejection & {
  at: Date;
  serviceName: string | null;
  keyId: string;
  keyName: string | null;
};

/**
 * The latest rejected request of the last seven days that concerns the agent: one that names it, by id or by the service
 * name that it has now, or one that names no agent, with a key that may write to this one.
 */
export async function findLastRejection(db: Database, agentId: string): Promise<LastRejection | undefined> {
  const { rows } = await db.pool.query<Omit<LastRejection, keyof Rejection> & { rejection: Rejection }>({
    name: "last-rejection",
    text: `select m.rejection, m.rejected_at as at, m.service_name as "serviceName", m.key_id as "keyId", k.name as "keyName"
      from agents own
      join ingestion_minutes m on m.project_id = own.project_id
      left join keys k on k.id = m.key_id
      left join agents named on named.project_id = m.project_id and named.otlp_service_name = m.service_name
      where own.id = $1 and m.rejection is not null and m.rejected_at >= now() - interval '7 days'
        and case
          when m.agent_id is not null then m.agent_id = own.id
          when named.id is not null then named.id = own.id
          else k.access = 'full'
            or exists (select from key_agents a where a.key_id = m.key_id and a.agent_id = own.id)
        end
      order by m.rejected_at desc limit 1`,
    values: [agentId],
  });
  return rows[0] && splitRejection(rows[0]);
}

function splitRejection<T extends { rejection: Rejection }>({ rejection, ...rest }: T) {
  return { ...rest, ...rejection };
}

/** `requests`: a request that names several services counts once for each. `spans` were stored. */
export type IngestionSummary = {
  codes: { code: IngestionCode; requests: number; spans: number }[];
  services: {
    serviceName: string;
    /** The agent that has this name now. */
    agentId: string | null;
    /** Whether no agent of the project has it. */
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
