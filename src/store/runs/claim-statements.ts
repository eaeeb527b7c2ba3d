// The statements that claim due runs and say when the next is due, with forms for when there is a backlog.
import type { RunKind } from "../../model/run/run.ts";
import { accountOf } from "../accounts/ownership.ts";

const judging = `judge_tries as "judgeTries", extract(epoch from judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs"`;

const claimedColumns: Record<RunKind, string> = {
  passive: `queue.id, trace_id as "traceId", agent_id as "agentId", ${accountOf("agent_id")} as "accountId", attempts, ${judging}, detail`,
  manual: `queue.id, queue.agent_id as "agentId", queue.launch_id as "launchId", queue.test_id as "testId", attempts, ${judging},
    sent_at is not null as sent,
    (
      select cancel_requested_at is not null and queue.cause = 'traffic' from launches l
      where l.agent_id = queue.agent_id and l.id = queue.launch_id
    ) as cancelled,
    (
      select document from launch_tests t
      where t.agent_id = queue.agent_id and t.launch_id = queue.launch_id and t.test_id = queue.test_id
    ) as test,
    (
      select input from launch_inputs i where i.agent_id = queue.agent_id and i.launch_id = queue.launch_id
        and i.test_id = queue.test_id and i.row = queue.test_row
    ) as input,
    coalesce(detail, (select r.detail from runs r where r.id = queue.id and r.agent_id = queue.agent_id)) as detail`,
};

/** Runs that a worker has, or had before it died; that wait for the judge; that nobody has claimed. Values of `queue.lane`. */
export const lanes = { leased: "passive leased", waiting: "passive waiting", due: "passive due" };

type Lane = "waiting" | "due";

/** Gives the queued runs of this array of ids (SQL), which are locked, to the lease $1 for $2 ms. */
const take = (kind: RunKind, ids: string) => `update queue set state = 'running', lease = $1,
    lease_until = now() + $2::float8 * interval '1 ms', attempts = attempts + 1, started_at = coalesce(started_at, now()),
    next_try_at = null, waiting_reason = null
  where id = any (${ids}) returning ${claimedColumns[kind]}`;

// They are found by an array of ids, not by a join, which may read every run (docs/decisions/005-plans-without-statistics.md).
const takeLocked = (
  kind: RunKind,
) => `${take(kind, "array(select id from waiting union all select id from due)")},
  id = any (array(select id from waiting)) as waited`;

// Limits, and all parameters of what is claimed by turns, are subqueries, so that no plan depends on their values: with a backlog of 100,000 runs, a plan for these very values
// looked cheaper than one for any, and was made for each claim.
const hidden = (parameter: string) => `(select ${parameter})`;
const waitingMax = hidden("$4::int");
const runsMax = hidden("$3::int");
/** An array; its length decides on plans, too. */
const hiddenIds = (parameter: string) => `${hidden(`${parameter}::uuid[]`)}::uuid[]`;
const notInHand = (parameter: string) => `id <> all (${parameter})`;
const notFull = (parameter: string) => `agent_id <> all (${parameter})`;

/** Where reading begins (see queue-starts.ts), in the statements that say what is next. */
const nextFrom = { due: "$4::timestamptz", waiting: "$5::timestamptz" };

/** How many are read in the order of time. */
const frontMax = 128;

/** The first runs whose workers died. Parameters: the lease and its ms, ids in hand, where to begin, how many. */
export const claimAbandoned = ofKinds(kind => ({
  name: `claim_abandoned_${kind}`,
  text: take(
    kind,
    `array(
      select id from queue where lane = '${kind} leased' and next_at < now() and next_at >= $4::timestamptz
        and ${notInHand("$3::uuid[]")}
      order by next_at limit $5 for update skip locked
    )`,
  ),
}));

/**
 * As long as all that is due fits into a claim. Parameters: the lease and its ms, how many runs, how many that waited, ids in
 * hand, starts of due and waiting runs.
 */
export const claimDue = ofKinds(kind => ({
  name: `claim_due_${kind}`,
  text: `with waiting as (
      select id from queue where lane = '${kind} waiting' and next_at <= now() and next_at >= $7::timestamptz
        and ${notInHand("$5::uuid[]")}
      order by next_at limit ${waitingMax} for update skip locked
    ), due as (
      select id from queue where lane = '${kind} due' and next_at <= now() and next_at >= $6::timestamptz
      order by next_at limit greatest(${runsMax} - (select count(*) from waiting), 0) for update skip locked
    )
    ${takeLocked(kind)}`,
}));

/**
 * A recursive CTE: when the first run of each agent is due, from `from` on and but for runs in hand. Empty unless `isNeeded`.
 * Of a limited number of agents if `part` is given.
 */
const firstByAgent = (
  lane: Lane,
  from: string,
  inHand: string,
  isNeeded: string,
  part?: { after: string; agentsMax: number },
) => {
  const first = (
    where: string,
    number: string,
  ) => `select agent_id, next_at as at, ${number} as number from queue
    where ${inLane(lane)} and next_at >= ${from} and ${notInHand(inHand)} and ${where} order by agent_id, next_at limit 1`;
  const begin = part ? `${isNeeded} and agent_id > ${part.after}` : `(${isNeeded})`;
  return `${lane}_first as (
      (${first(begin, "1")})
      union all
      select further.* from ${lane}_first, lateral (
        ${first(`agent_id > ${lane}_first.agent_id`, `${lane}_first.number + 1`)}
      ) further ${part ? `where ${lane}_first.number < ${part.agentsMax}` : ""}
    )`;
};

/** By agent: only the index by agent has this condition. */
export const inLane = (lane: Lane, kind: RunKind = "passive") =>
  `lease_until is null and lane = '${kind} ${lane}'`;

/** How many agents are looked for at a time, and how many runs of each are counted. */
export const lookMax = { agents: 256, runs: 128 };

// Compared together, so that only the index by agent fits.
const dueOf = (agentId: string, from: string) =>
  `(queue.agent_id, next_at) >= (${agentId}, ${from}) and (queue.agent_id, next_at) <= (${agentId}, now())`;

const countByAgent = (lane: Lane) => `select '${lane}' as queue, agent_id as "agentId",
    ${accountOf("first.agent_id")} as "accountId", extract(epoch from at)::float8 as at, is_due as "isDue", (
      select count(*)::int from (
        select 1 from queue
        where is_due and ${inLane(lane)} and ${dueOf("first.agent_id", "first.at")} and ${notInHand(hiddenIds("$1"))}
        order by agent_id, next_at limit ${lookMax.runs}
      ) due
    ) as count
  from (select *, at <= now() and ${notFull(hiddenIds("$2"))} as is_due from ${lane}_first) first`;

/**
 * How many runs of which agents are due. The index by agent gives the first run of each, one look-up each: what one has queued
 * is never read through to find what others have. Parameters: ids in hand, agents at their limit, the agent to look for others
 * from, starts of due and waiting runs.
 */
export const lookForAgents = {
  name: "look_for_agents",
  text: (() => {
    const part = { after: hidden("$3::uuid"), agentsMax: lookMax.agents };
    return `with recursive ${firstByAgent("waiting", hidden(nextFrom.waiting), hiddenIds("$1"), "true", part)},
      ${firstByAgent("due", hidden(nextFrom.due), hiddenIds("$1"), "true", part)}
      ${countByAgent("waiting")} union all ${countByAgent("due")}`;
  })(),
};

const lockShares = (kind: RunKind, lane: Lane, agents: string, counts: string, from: string) => `${lane} as (
    select run.id from unnest(${hidden(`${agents}::uuid[]`)}, ${hidden(`${counts}::int[]`)}) as share (agent_id, count), lateral (
      select id from queue
      where ${inLane(lane, kind)} and ${dueOf("share.agent_id", hidden(from))} and ${notInHand(hiddenIds("$3"))}
      order by agent_id, next_at, id limit share.count for update skip locked
    ) run
  )`;

/**
 * Claims so many runs of these agents, those that have waited longest. Parameters: the lease and its ms, ids in hand; agents and
 * counts of runs that waited, and their start; the same of due runs.
 */
export const claimShares = ofKinds(kind => ({
  name: `claim_shares_${kind}`,
  text: `with ${lockShares(kind, "waiting", "$4", "$5", "$6::timestamptz")}, ${lockShares(kind, "due", "$7", "$8", "$9::timestamptz")}
    ${takeLocked(kind)}`,
}));

function ofKinds<T>(make: (kind: RunKind) => T): Record<RunKind, T> {
  return { passive: make("passive"), manual: make("manual") };
}

const msUntilFirst = (...times: string[]) =>
  `select extract(epoch from least(${times.map(time => `(${time})`).join(", ")}) - now())::float8 * 1000 as ms`;
const leaseExpires = `select min(next_at) from queue
  where lane = '${lanes.leased}' and next_at >= $6::timestamptz and ${notInHand("$1::uuid[]")}`;

/** Parameters: ids in hand, whether waiting runs continue, agents at their limit, starts of due, waiting and leased runs. */
export const nextDue = {
  name: "next_due",
  text: msUntilFirst(
    `select min(next_at) from queue where lane = '${lanes.due}' and next_at >= ${nextFrom.due} and ${notFull("$3::uuid[]")}`,
    leaseExpires,
    `select min(next_at) from queue where lane = '${lanes.waiting}' and next_at >= ${nextFrom.waiting} and $2::bool
      and ${notInHand("$1::uuid[]")} and ${notFull("$3::uuid[]")}`,
  ),
};

// When agents are at their limit, the first runs in the order of time are read as above, in case enough are of others. If
// not, the index by agent gives the first run of each agent, one look-up each, and then more of those that have waited longest.

const firstPastFull = (lane: Lane, also: string) =>
  `${lane}_front as materialized (
      select agent_id, next_at as at from queue where lane = '${lanes[lane]}' and next_at >= ${nextFrom[lane]} and ${also}
      order by next_at limit ${frontMax}
    ), ${lane}_near as materialized (
      select min(at) filter (where ${notFull("$3::uuid[]")}) as at, count(*) = ${frontMax} as is_cut from ${lane}_front
    ), ${firstByAgent(lane, nextFrom[lane], "$1::uuid[]", `select at is null and is_cut from ${lane}_near`)}`;
const firstOf = (lane: Lane) =>
  `select coalesce((select at from ${lane}_near), (select min(at) from ${lane}_first where ${notFull("$3::uuid[]")}))`;

/** As `nextDue`, with the index by agent. */
export const nextPastFull = {
  name: "next_past_full",
  text: `with recursive ${firstPastFull("due", "true")}, ${firstPastFull("waiting", `$2::bool and ${notInHand("$1::uuid[]")}`)}
    ${msUntilFirst(firstOf("due"), leaseExpires, firstOf("waiting"))}`,
};
