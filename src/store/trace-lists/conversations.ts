// Lists an agent's conversations and the turns of one: traces with the same conversation id, in the order in which they began.
import type { Outcome } from "../../model/run/outcome.ts";
import type { TraceKind } from "../../model/trace/trace.ts";
import { placeOf, placeOfRow } from "../cluster/routing.ts";
import type { Database } from "../db.ts";
import { type Listing, oldest } from "../listing.ts";
import { type Look, type SearchBudget, scan } from "../scan.ts";
import { traceColumns } from "../traces/read.ts";
import type { ListedTrace } from "./list.ts";
import { shownRunSql } from "./sql.ts";

export type ConversationRow = {
  conversationId: string;
  /** That of its last turn. */
  kind: TraceKind;
  /** At most one more than was asked for. */
  traces: number;
  /** Microseconds since 1970. */
  firstAt: number;
  lastAt: number;
  firstTraceId: string;
  lastTraceId: string;
  userInput: string | null;
  responseText: string | null;
  userId: string | null;
  /** The rules that redacted something in the trace that the IDs are from. */
  redacted: string[] | null;
  /** Of the last turns, as many as `verdictsMax`. */
  verdicts: Record<Outcome | "none", number>;
  notFullyEvaluated: number;
};

/** The list counts as many traces of a conversation, and looks up the verdicts of as many of its last ones. */
export const listedTracesMax = 1_000;
export const verdictsMax = 100;
/** As many turns are counted for their numbers. */
export const turnsCountedMax = 10_000;

/** The turns of conversation `id`, an expression, of the agent in parameter 1. The literal condition is that of the index. */
const turnsOf = (id: string) =>
  `traces t where t.agent_id = $1 and t.conversation_id is not null and t.conversation_id = ${id}`;

const inOrder = "order by t.turn_at, t.id";
const fromTheEnd = "order by t.turn_at desc, t.id desc";

/**
 * Newest first, by the arrival of their last turns. A stretch of the agent's traces gives the conversations whose last turn
 * is in it, so nothing is written for a conversation when a trace arrives.
 */
export async function listConversations(
  db: Database,
  agentId: string,
  kind: TraceKind | undefined,
  listing: Listing,
  budget?: SearchBudget,
): Promise<Look<ConversationRow & { id: string }>> {
  const { rowCount } = await (await placeOf(db, agentId)).pool.query({
    name: "has_conversations",
    text: "select from traces where agent_id = $1 and conversation_id is not null limit 1",
    values: [agentId],
  });
  if (rowCount === 0) return { rows: [], reach: null };
  const { rows, reach } = await scan(
    listing,
    async ({ before, rowsMax }, stretch) => {
      const found = await (await placeOf(db, agentId)).pool.query<{
        id: string | null;
        conversationId: string;
        reach: string | null;
      }>({
        name: "list_conversations",
        text: lastTurns,
        values: [agentId, before, rowsMax, stretch, kind ?? null],
      });
      const ids = found.rows.flatMap(({ id, conversationId }) =>
        id === null ? [] : [{ id, conversationId }],
      );
      return { rows: ids, reach: found.rows[0]!.reach };
    },
    budget,
  );
  const ids = rows.map(({ conversationId }) => conversationId);
  const described = await describeConversations(db, agentId, ids, listedTracesMax);
  // One whose traces were deleted since is left out. The page may then be short, and is not the last one.
  const isFull = rows.length === listing.rowsMax;
  return {
    rows: rows.flatMap(row => ({ ...described.get(row.conversationId), ...row })).filter(isWhole),
    reach: isFull ? rows.at(-1)!.id : reach,
  };
}

const isWhole = (row: { id: string } & Partial<ConversationRow>): row is ConversationRow & { id: string } =>
  row.traces !== undefined;

const lastTurns = `
  with stretch as materialized (
    select id from traces where agent_id = $1 and id < $2::uuid order by id desc offset $4::int - 1 limit 1
  ), seen as materialized (
    select distinct on (conversation_id) id, conversation_id from traces
    where agent_id = $1 and id < $2::uuid and id >= coalesce((select id from stretch), '${oldest}')
      and conversation_id is not null and ($5::text is null or kind = $5)
    order by conversation_id, turn_at desc, id desc
  ), page as (
    select seen.id, seen.conversation_id from seen
    where seen.id = (select t.id from ${turnsOf("seen.conversation_id")} ${fromTheEnd} limit 1)
    order by seen.id desc limit $3
  )
  select (select id from stretch) as reach, page.id, page.conversation_id as "conversationId"
  from (values (1)) as always left join page on true
  order by page.id desc`;

/** By conversation id. Counts one trace more than `tracesMax` of each, if there are more. */
export async function describeConversations(
  db: Database,
  agentId: string,
  conversationIds: string[],
  tracesMax: number,
): Promise<Map<string, ConversationRow>> {
  if (conversationIds.length === 0) return new Map();
  const { rows } = await (await placeOf(db, agentId)).pool.query<ConversationRow>({
    name: "describe_conversations",
    text: description,
    values: [agentId, conversationIds, tracesMax + 1, verdictsMax],
  });
  return new Map(rows.map(row => [row.conversationId, row]));
}

const described = "c.conversation_id";

const description = `
  select c.conversation_id as "conversationId", last.kind, counted.traces, first.turn_at as "firstAt",
    last.turn_at as "lastAt", first.id as "firstTraceId", last.id as "lastTraceId",
    first.user_input as "userInput", last.response_text as "responseText",
    coalesce(last.user_id, first.user_id) as "userId",
    case when last.user_id is null then first.redacted else last.redacted end as redacted, judged.verdicts,
    judged."notFullyEvaluated"
  from unnest($2::text[]) as c (conversation_id)
  cross join lateral (select * from ${turnsOf(described)} ${inOrder} limit 1) first
  cross join lateral (select * from ${turnsOf(described)} ${fromTheEnd} limit 1) last
  cross join lateral (
    select count(*) as traces from (select from ${turnsOf(described)} limit $3::int) one
  ) counted
  cross join lateral (
    select json_build_object(
      'passed', count(*) filter (where r.verdict = 'passed'), 'failed', count(*) filter (where r.verdict = 'failed'),
      'skipped', count(*) filter (where r.verdict = 'skipped'),
      'missing_instrumentation', count(*) filter (where r.verdict = 'missing_instrumentation'),
      'none', count(*) filter (where r.verdict is null)
    ) as verdicts, count(*) filter (where not r.fully_evaluated and r.verdict is not null)::int as "notFullyEvaluated"
    from (select t.id, t.kind from ${turnsOf(described)} ${fromTheEnd} limit $4::int) t ${shownRunSql("r.verdict, r.fully_evaluated", "$1")}
  ) judged`;

/** Where a turn is in its conversation. */
export type TurnPosition = { turnAt: number; id: string };

export type TurnRow = ListedTrace & { turnAt: number; hasContent: boolean };

/** `after` and `before` leave out the turn at the position, `from` begins with it; the end is the last turns. */
export type TurnsFrom =
  | { after: TurnPosition }
  | { from: TurnPosition }
  | { before: TurnPosition }
  | "start"
  | "end";

/** The turns next to the position, in the order in which they began. */
export async function listTurnsOfConversation(
  db: Database,
  { agentId, conversationId }: { agentId: string; conversationId: string },
  at: TurnsFrom,
  rowsMax: number,
): Promise<TurnRow[]> {
  const [comparison, position, order] = boundOf(at);
  const values = [agentId, conversationId, rowsMax, ...(position ? [position.turnAt, position.id] : [])];
  const { rows } = await (await placeOf(db, agentId)).pool.query<TurnRow>(
    `with page as materialized (
      select ${traceColumns}, t.turn_at as "turnAt", t.content is null as "hasContent" from ${turnsOf("$2")}
        ${position ? `and (t.turn_at, t.id) ${comparison} ($4, $5::uuid)` : ""}
      ${order} limit $3::int
    )
    select t.*, to_jsonb(r) as run from page t ${shownRunSql(undefined, "$1")} ${order.replace("t.turn_at", 't."turnAt"')}`,
    values,
  );
  return order === inOrder ? rows : rows.reverse();
}

function boundOf(at: TurnsFrom): [comparison: string, position: TurnPosition | null, order: string] {
  if (at === "start") return [">", null, inOrder];
  if (at === "end") return ["<", null, fromTheEnd];
  if ("after" in at) return [">", at.after, inOrder];
  if ("from" in at) return [">=", at.from, inOrder];
  return ["<", at.before, fromTheEnd];
}

/** How many turns came before this one, at most `turnsCountedMax`. */
export async function countTurnsBefore(
  db: Database,
  { agentId, conversationId }: { agentId: string; conversationId: string },
  { turnAt, id }: TurnPosition,
): Promise<number> {
  const { rows } = await (await placeOf(db, agentId)).pool.query<{ count: number }>({
    name: "count_turns_before",
    text: `select count(*) as count from (
        select from ${turnsOf("$2")} and (t.turn_at, t.id) < ($3, $4::uuid) limit ${turnsCountedMax}
      ) earlier`,
    values: [agentId, conversationId, turnAt, id],
  });
  return rows[0]!.count;
}

export type Turn = TurnPosition & {
  agentId: string;
  conversationId: string;
  previousTraceId: string | null;
  nextTraceId: string | null;
};

/** The trace as a turn of its conversation, with its neighbors; undefined if it has none. */
export async function findTurn(db: Database, traceId: string): Promise<Turn | undefined> {
  const { rows } = await (await placeOfRow(db, "traces", traceId)).pool.query<
    Omit<Turn, "previousTraceId" | "nextTraceId">
  >(
    `select id, agent_id as "agentId", conversation_id as "conversationId", turn_at as "turnAt"
     from traces where id = $1 and conversation_id is not null`,
    [traceId],
  );
  const turn = rows[0];
  if (!turn) return undefined;
  const neighbors = await (await placeOfRow(db, "traces", traceId)).pool.query<{
    previous: string | null;
    next: string | null;
  }>({
    name: "find_neighbor_turns",
    text: `select
        (select t.id from ${turnsOf("$2")} and (t.turn_at, t.id) < ($3, $4::uuid) ${fromTheEnd} limit 1) as previous,
        (select t.id from ${turnsOf("$2")} and (t.turn_at, t.id) > ($3, $4::uuid) ${inOrder} limit 1) as next`,
    values: [turn.agentId, turn.conversationId, turn.turnAt, turn.id],
  });
  const { previous, next } = neighbors.rows[0]!;
  return { ...turn, previousTraceId: previous, nextTraceId: next };
}
