// The statements that claim due runs and say when the next is due, with a form of each for when agents are at their limit.
import { accountOf } from "../accounts/ownership.ts";
import { opaque } from "./of-traces.ts";

export const claimedColumns = `runs.id, trace_id as "traceId", agent_id as "agentId", ${accountOf("agent_id")} as "accountId", attempts, judge_tries as "judgeTries",
  extract(epoch from judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs", detail`;

// Conditions of the indexes by agent, as the schema writes them; no other index fits these.
const isPending = "(case when state = 'pending' then kind end) = 'passive'";
const isWaiting = "(case when kind = 'passive' then next_try_at end) is not null";

// Passive runs only. Spelled "not manual", and without the state for waiting and leased runs, so that only the index in
// the requested order applies: with another the planner sorts all due runs, or reads all waiting ones.

type Queue = {
  name: "waiting" | "due";
  /** In the order of time. */
  where: string;
  at: string;
  /** By agent, then in the order of time. */
  byAgent: string;
  /** Of runs that another worker may have claimed meanwhile; no index fits. */
  stillThere: string;
};

const waiting: Queue = {
  name: "waiting",
  where: "kind <> 'manual' and next_try_at is not null",
  at: "next_try_at",
  byAgent: isWaiting,
  stillThere: "coalesce(next_try_at <= now(), false)",
};
const due: Queue = {
  name: "due",
  where: "kind <> 'manual' and state = 'pending'",
  at: "due_at",
  byAgent: isPending,
  stillThere: `state = ${opaque("pending")}`,
};

/**
 * Marks the runs in these CTEs. They are found by an array of ids, not by a join, which may read every run
 * (docs/decisions/005-plans-without-statistics.md).
 */
const markClaimed = (...names: string[]) => `update runs set state = 'running', lease = $1,
    lease_until = now() + $2::float8 * interval '1 ms', attempts = attempts + 1, started_at = coalesce(started_at, now()),
    next_try_at = null, waiting_reason = null
  where id = any (array(${names.map(name => `select id from ${name}`).join(" union all ")}))
  returning ${claimedColumns}`;

// Limits are subqueries, so that no plan depends on their values: with a backlog of 100,000 runs, a plan for these very values
// looked cheaper than one for any, and was made for each claim.
/** Of `runsMax`, at most half waited. */
const waitingMax = "(select least($4::int, ($3::int + 1) / 2))";
const runsMax = "(select $3::int)";
const notInHand = (parameter: string) => `id <> all (${parameter}::uuid[])`;
const notFull = (parameter: string) => `agent_id <> all (${parameter}::uuid[])`;

/** Where reading begins (see queue-starts.ts), in the statements that claim and in those that say what is next. */
const claimFrom = { due: "$7::timestamptz", waiting: "$8::timestamptz" };
const nextFrom = { due: "$4::timestamptz", waiting: "$5::timestamptz" };

/** Parameters: the lease and its ms, how many runs, how many that waited, ids in hand, agents at their limit, starts of due and waiting runs. */
export const claimDue = {
  name: "claim_due",
  text: `with waiting as (
      select id from runs where ${waiting.where} and next_try_at <= now() and next_try_at >= ${claimFrom.waiting}
        and ${notInHand("$5")} and ${notFull("$6")}
      order by next_try_at limit ${waitingMax} for update skip locked
    ), due as (
      select id from runs where ${due.where} and due_at <= now() and due_at >= ${claimFrom.due} and ${notFull("$6")}
      order by due_at limit ${runsMax} - (select count(*) from waiting) for update skip locked
    )
    ${markClaimed("waiting", "due")}`,
};

const msUntilFirst = (...times: string[]) =>
  `select extract(epoch from least(${times.map(time => `(${time})`).join(", ")}) - now())::float8 * 1000 as ms`;
const leaseExpires = `select min(lease_until) from runs
  where kind <> 'manual' and lease_until >= $6::timestamptz and ${notInHand("$1")}`;

/** Parameters: ids in hand, whether waiting runs continue, agents at their limit, starts of due, waiting and leased runs. */
export const nextDue = {
  name: "next_due",
  text: msUntilFirst(
    `select min(due_at) from runs where ${due.where} and due_at >= ${nextFrom.due} and ${notFull("$3")}`,
    leaseExpires,
    `select min(next_try_at) from runs
      where ${waiting.where} and next_try_at >= ${nextFrom.waiting} and $2::bool and ${notInHand("$1")} and ${notFull("$3")}`,
  ),
};

// When agents are at their limit, the first runs in the order of time are read as above, in case enough are of others. If
// not, the indexes by agent give the first run of each agent, one look-up each, and then more of those that have waited longest.

/** How many are read in the order of time. */
const frontMax = 128;

/** A recursive CTE: when the first run of each agent is due, from `from` on and but for runs in hand. Empty unless `isNeeded`. */
const firstByAgent = ({ name, at, byAgent }: Queue, from: string, inHand: string, isNeeded: string) => {
  const first = (where: string) => `select agent_id, ${at} as at from runs
    where ${byAgent} and ${at} >= ${from} and ${notInHand(inHand)} and ${where} order by agent_id, ${at} limit 1`;
  return `${name}_first as (
      (${first(`(${isNeeded})`)})
      union all
      select further.* from ${name}_first, lateral (${first(`agent_id > ${name}_first.agent_id`)}) further
    )`;
};

/** CTEs that lock up to `limit` runs, as `…_near` in the order of time, or as `…_far` behind the backlog of full agents. */
const lockPastFull = (queue: Queue, limit: string) => {
  const { name, where, at, byAgent, stillThere } = queue;
  return `${name}_front as materialized (
      select agent_id from runs where ${where} and ${at} <= now() and ${at} >= ${claimFrom[name]}
      order by ${at} limit ${frontMax}
    ), ${name}_depth as materialized (
      select count(*) = ${frontMax} and count(*) filter (where ${notFull("$6")}) < $3::int as is_far from ${name}_front
    ), ${name}_near as (
      select id from runs where ${where} and ${at} <= now() and ${at} >= ${claimFrom[name]}
        and ${notInHand("$5")} and ${notFull("$6")} and not (select is_far from ${name}_depth)
      order by ${at} limit ${limit} for update skip locked
    ), ${firstByAgent(queue, claimFrom[name], "$5", `select is_far from ${name}_depth`)}, ${name}_behind as materialized (
      select run.* from (
        select agent_id, at as from_at from ${name}_first where at <= now() and ${notFull("$6")} order by at limit ${runsMax}
      ) agent, lateral (
        select id, ${at} as at from runs
        where ${byAgent} and agent_id = agent.agent_id and ${at} >= from_at and ${at} <= now() and ${notInHand("$5")}
        order by ${at} limit ${runsMax}
      ) run
      order by at limit 2 * ${runsMax}
    ), ${name}_far as (
      select id from runs where id = any (array(select id from ${name}_behind)) and ${stillThere}
      order by ${at} limit ${limit} for update skip locked
    )`;
};

/** As `claimDue`, with the indexes by agent. */
export const claimPastFull = {
  name: "claim_past_full",
  text: `with recursive ${lockPastFull(waiting, waitingMax)}, ${lockPastFull(
    due,
    `${runsMax} - (select count(*) from waiting_near) - (select count(*) from waiting_far)`,
  )}
    ${markClaimed("waiting_near", "waiting_far", "due_near", "due_far")}`,
};

const firstPastFull = (queue: Queue, also: string) => {
  const { name, where, at } = queue;
  return `${name}_front as materialized (
      select agent_id, ${at} as at from runs where ${where} and ${at} >= ${nextFrom[name]} and ${also}
      order by ${at} limit ${frontMax}
    ), ${name}_near as materialized (
      select min(at) filter (where ${notFull("$3")}) as at, count(*) = ${frontMax} as is_cut from ${name}_front
    ), ${firstByAgent(queue, nextFrom[name], "$1", `select at is null and is_cut from ${name}_near`)}`;
};
const firstOf = (name: string) =>
  `select coalesce((select at from ${name}_near), (select min(at) from ${name}_first where ${notFull("$3")}))`;

/** As `nextDue`, with the indexes by agent. */
export const nextPastFull = {
  name: "next_past_full",
  text: `with recursive ${firstPastFull(due, "true")}, ${firstPastFull(waiting, `$2::bool and ${notInHand("$1")}`)}
    ${msUntilFirst(firstOf("due"), leaseExpires, firstOf("waiting"))}`,
};
