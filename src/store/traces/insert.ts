// Stores any number of new traces, each with its first batch and its scheduled run, in one statement.
import type { TraceKind } from "../../model/trace/trace.ts";
import { intakeKey } from "../accounts/intake-key.ts";
import { clockIsOff, isTimely, lateAt } from "../clock.ts";
import { forgetAfter } from "../content-deadlines.ts";
import { type Database, type Session, transaction } from "../db.ts";
import { multiRow } from "../parameters/multi-row.ts";
import { eligibleSql } from "../test-cases.ts";
import { addValues, setsOf, valueColumns } from "./call-values.ts";
import {
  conventionsOf,
  derivedColumns,
  derivedNames,
  derivedValues,
  hasOtherConventions,
} from "./derived-columns.ts";
import { keyIdsOf, revoked } from "./live-keys.ts";
import { storeOtlpIds } from "./otlp-ids.ts";
import { countRedactions } from "./redactions.ts";
import { storeResources } from "./shared-resources.ts";
import { IntakeChanged, type TraceWrite, type WriteOutcome } from "./write.ts";

const calls = multiRow(3, valueColumns);

/** `callSet`: the number of the tools and models that it calls. */
type Item = TraceWrite & { callSet: number };

const items = multiRow<Item>(3 + Object.keys(valueColumns).length, {
  id: ["uuid", write => write.traceId],
  run_id: ["uuid", write => write.runId],
  key_id: ["uuid", write => write.keyId],
  agent_id: ["uuid", write => write.agentId],
  external_id: ["text", write => write.externalId],
  path: ["text", write => write.path],
  batch_spans: ["int", write => write.spanCount],
  batch_bytes: ["bigint", write => write.rawLength],
  resource_id: ["uuid", write => write.resource?.id ?? null],
  call_set: ["int", write => write.callSet],
  conventions: ["text", conventionsOf],
  intake: ["text", write => intakeKey(write.intake)],
  content: ["text", write => write.content ?? null],
  privacy_revision: ["int", write => write.privacyRevision ?? null],
  ...derivedColumns,
  span_keys: ["bytes", write => write.spanKeys],
  spans: ["bytes", write => write.bytes],
});

// `for key share` makes a revocation wait for this commit, or this statement see the revocation: no trace is committed
// after a revocation was answered. Columns derived with conventions that the agent no longer has are derived again.
// Identities are inserted in order, so that two statements with the same ones wait for each other
// in turn and never deadlock. The agents are locked so that a change of what may be stored waits for this commit, or this
// statement sees the change. A trace that a manual run waits for belongs to that run: nothing is scheduled for it.
const fits =
  "coalesce(agent.intake_key = item.intake and agent.privacy_revision = coalesce(item.privacy_revision, agent.privacy_revision), true)";

const statement = `
with live as materialized (
  select id from keys where id = any ($2::uuid[]) and (expires_at is null or expires_at > now()) for key share
), item as materialized (
  select * from ${items.from}
), agent as materialized (
  select id, intake_key, privacy_revision, ${forgetAfter} as forget_after_s from agents a
  where id in (select agent_id from item) order by id for key share
), first as (
  insert into trace_identities (agent_id, trace_id, external_id)
  select agent_id, item.id, external_id
  from item left join live on live.id = item.key_id left join agent on agent.id = item.agent_id
  where (item.key_id is null or live.id is not null) and ${fits} and ${isTimely("item.id")}
  order by agent_id, external_id
  on conflict (agent_id, external_id) do nothing
  returning trace_id
), made as (
  insert into traces (
    id, agent_id, external_id, kind, path, batch_spans, batch_bytes, content, derived_revision,
    ${derivedNames}
  )
  select item.id, agent_id, external_id,
    case when exists (
      select from expected_traces e where e.agent_id = item.agent_id and e.external_id = item.external_id
    ) then 'test_run' else 'live' end,
    path, batch_spans, batch_bytes, content,
    case when ${hasOtherConventions("item.agent_id", "item.conventions")} then 0 else 1 end,
    ${derivedValues}
  from item join first on first.trace_id = item.id
  returning id, agent_id, path, kind
), added as materialized (
  ${addValues} from ${calls.from} where set in (select call_set from made join item using (id))
), batch as (
  insert into trace_batches (agent_id, trace_id, seq, raw_length, resource_id, span_keys, spans)
  select made.agent_id, made.id, 1, batch_bytes, resource_id, ${items.bytes("span_keys")}, ${items.bytes("spans")}
  from made join item on item.id = made.id
), scheduled as (
  insert into queue (id, trace_id, agent_id, due_at)
  select item.run_id, made.id, made.agent_id, now() + case made.path when 'otlp' then $1::float8 * interval '1 ms' else interval '0' end
  from made join item on item.id = made.id
  where made.kind = 'live' and item.noise is null and exists (
    select from test_cases where test_cases.agent_id = made.agent_id and ${eligibleSql}
  )
  returning trace_id
), forgets as (
  insert into content_deadlines (agent_id, subject_id, after_s, check_at)
  select made.agent_id, made.id, forget_after_s, now() + forget_after_s * interval '1 s'
  from made join agent on agent.id = made.agent_id where forget_after_s is not null
)
select item.id, item.key_id is null or live.id is not null as live, made.id is not null as made, made.kind,
  ${fits} as fits,
  ${lateAt("item.id")} as late_at,
  scheduled.trace_id is not null as scheduled
from item
cross join added
left join live on live.id = item.key_id
left join agent on agent.id = item.agent_id
left join made on made.id = item.id
left join scheduled on scheduled.trace_id = item.id`;

/** `late_at`: the database's time, if that of the id is too far from it. */
type Inserted = {
  id: string;
  live: boolean;
  made: boolean;
  kind: TraceKind | null;
  fits: boolean;
  late_at: number | null;
  scheduled: boolean;
};

/**
 * Inserts every write whose identity is not stored yet, in one transaction. An outcome is `undefined` where the
 * identity exists, a Refusal where the key was revoked or expired meanwhile or the clock of this process is off,
 * IntakeChanged where what may be stored changed.
 */
export function insertTraces(
  db: Database,
  writes: TraceWrite[],
  debounceMs: number,
): Promise<WriteOutcome[]> {
  if (!writes.some(({ resource, otlpTraceId, redactions }) => resource || otlpTraceId || redactions))
    return insert(db.pool, writes, debounceMs);
  return transaction(db, async client => {
    const outcomes = await insert(client, writes, debounceMs);
    const made = writes.filter((_, index) => outcomes[index] && !(outcomes[index] instanceof Error));
    await storeResources(client, made);
    await countRedactions(client, made);
    await storeOtlpIds(
      client,
      made.map(write => ({ write, storedAs: write.traceId })),
    );
    return outcomes;
  });
}

async function insert(client: Session, writes: TraceWrite[], debounceMs: number): Promise<WriteOutcome[]> {
  const { sets, values } = setsOf(writes);
  const sent = writes.map((write, at): Item => ({ ...write, callSet: sets[at]! }));
  const { rows } = await client.query<Inserted>({
    name: "insert_traces",
    text: statement,
    values: [debounceMs, keyIdsOf(writes), ...calls.values(values), ...items.values(sent)],
  });
  const byId = new Map(rows.map(row => [row.id, row]));
  return writes.map(write => {
    const row = byId.get(write.traceId)!;
    if (!row.live) return revoked();
    if (row.late_at !== null) return clockIsOff(write.traceId, row.late_at);
    if (!row.fits) return new IntakeChanged(false);
    if (!row.made) return undefined;
    return {
      traceId: write.traceId,
      state: "created",
      revision: 1,
      evaluation: row.scheduled ? "scheduled" : "none",
      ...(row.kind === "test_run" && { isTestRun: true }),
    };
  });
}
