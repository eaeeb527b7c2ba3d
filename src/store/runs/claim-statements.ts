// The statements that claim due runs and say when the next is due, with forms for when there is a backlog.
import { accountOf } from "../accounts/ownership.ts";

export const claimedColumns = `runs.id, trace_id as "traceId", agent_id as "agentId", ${accountOf("agent_id")} as "accountId", attempts, judge_tries as "judgeTries",
  extract(epoch from judge_deadline_at - now())::float8 * 1000 as "judgeLeftMs", detail`;

// Conditions of the indexes by agent, as the schema writes them; no other index fits these.
export const isPending = "(case when state = 'pending' then kind end) = 'passive'";
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
};

const waiting: Queue = {
  name: "waiting",
  where: "kind <> 'manual' and next_try_at is not null",
  at: "next_try_at",
  byAgent: isWaiting,
};
const due: Queue = {
  name: "due",
  where: "kind <> 'manual' and state = 'pending'",
  at: "due_at",
  byAgent: isPending,
};

/**
 * Marks the runs in these CTEs, which have locked them. They are found by an array of ids, not by a join, which may read
 * every run (docs/decisions/005-plans-without-statistics.md).
 */
const markClaimed = (...names: string[]) => `update runs set state = 'running', lease = $1,
    lease_until = now() + $2::float8 * interval '1 ms', attempts = attempts + 1, started_at = coalesce(started_at, now()),
    next_try_at = null, waiting_reason = null
  where id = any (array(${names.map(name => `select id from ${name}`).join(" union all ")}))
  returning ${claimedColumns}, id = any (array(select id from waiting)) as waited`;

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

/**
 * A recursive CTE: when the first run of each agent is due, from `from` on and but for runs in hand. Empty unless `isNeeded`.
 * Of a limited number of agents if `part` is given.
 */
const firstByAgent = (
  { name, at, byAgent }: Queue,
  from: string,
  inHand: string,
  isNeeded: string,
  part?: { after: string; agentsMax: number },
) => {
  const first = (
    where: string,
    number: string,
  ) => `select agent_id, ${at} as at, ${number} as number from runs
    where ${byAgent} and ${at} >= ${from} and ${notInHand(inHand)} and ${where} order by agent_id, ${at} limit 1`;
  const begin = part ? `${isNeeded} and agent_id > ${part.after}` : `(${isNeeded})`;
  return `${name}_first as (
      (${first(begin, "1")})
      union all
      select further.* from ${name}_first, lateral (
        ${first(`agent_id > ${name}_first.agent_id`, `${name}_first.number + 1`)}
      ) further ${part ? `where ${name}_first.number < ${part.agentsMax}` : ""}
    )`;
};

/**
 * As long as all that is due fits into a claim. Parameters: the lease and its ms, how many runs, how many that waited, ids in
 * hand, starts of due and waiting runs.
 */
export const claimDue = {
  name: "claim_due",
  text: `with waiting as (
      select id from runs where ${waiting.where} and next_try_at <= now() and next_try_at >= $7::timestamptz
        and ${notInHand("$5::uuid[]")}
      order by next_try_at limit ${waitingMax} for update skip locked
    ), due as (
      select id from runs where ${due.where} and due_at <= now() and due_at >= $6::timestamptz
      order by due_at limit ${runsMax} - (select count(*) from waiting) for update skip locked
    )
    ${markClaimed("waiting", "due")}`,
};

/** How many agents are looked for at a time, and how many runs of each are counted. */
export const lookMax = { agents: 256, runs: 128 };

// Compared together, so that only the index by agent fits.
const dueOf = (at: string, agentId: string, from: string) =>
  `(runs.agent_id, ${at}) >= (${agentId}, ${from}) and (runs.agent_id, ${at}) <= (${agentId}, now())`;

const countByAgent = ({ name, at, byAgent }: Queue) => `select '${name}' as queue, agent_id as "agentId",
    ${accountOf("first.agent_id")} as "accountId", extract(epoch from at)::float8 as at, is_due as "isDue", (
      select count(*)::int from (
        select 1 from runs
        where is_due and ${byAgent} and ${dueOf(at, "first.agent_id", "first.at")} and ${notInHand(hiddenIds("$1"))}
        order by agent_id, ${at} limit ${lookMax.runs}
      ) due
    ) as count
  from (select *, at <= now() and ${notFull(hiddenIds("$2"))} as is_due from ${name}_first) first`;

/**
 * How many runs of which agents are due. The index by agent gives the first run of each, one look-up each: what one has queued
 * is never read through to find what others have. Parameters: ids in hand, agents at their limit, the agent to look for others
 * from, starts of due and waiting runs.
 */
export const lookForAgents = {
  name: "look_for_agents",
  text: (() => {
    const part = { after: hidden("$3::uuid"), agentsMax: lookMax.agents };
    return `with recursive ${firstByAgent(waiting, hidden(nextFrom.waiting), hiddenIds("$1"), "true", part)},
      ${firstByAgent(due, hidden(nextFrom.due), hiddenIds("$1"), "true", part)}
      ${countByAgent(waiting)} union all ${countByAgent(due)}`;
  })(),
};

const lockShares = (
  { name, at, byAgent }: Queue,
  agents: string,
  counts: string,
  from: string,
) => `${name} as (
    select run.id from unnest(${hidden(`${agents}::uuid[]`)}, ${hidden(`${counts}::int[]`)}) as share (agent_id, count), lateral (
      select id from runs
      where ${byAgent} and ${dueOf(at, "share.agent_id", hidden(from))} and ${notInHand(hiddenIds("$3"))}
      order by agent_id, ${at} limit share.count for update skip locked
    ) run
  )`;

/**
 * Claims so many runs of these agents, those that have waited longest. Parameters: the lease and its ms, ids in hand; agents and
 * counts of runs that waited, and their start; the same of due runs.
 */
export const claimShares = {
  name: "claim_shares",
  text: `with ${lockShares(waiting, "$4", "$5", "$6::timestamptz")}, ${lockShares(due, "$7", "$8", "$9::timestamptz")}
    ${markClaimed("waiting", "due")}`,
};

const msUntilFirst = (...times: string[]) =>
  `select extract(epoch from least(${times.map(time => `(${time})`).join(", ")}) - now())::float8 * 1000 as ms`;
const leaseExpires = `select min(lease_until) from runs
  where kind <> 'manual' and lease_until >= $6::timestamptz and ${notInHand("$1::uuid[]")}`;

/** Parameters: ids in hand, whether waiting runs continue, agents at their limit, starts of due, waiting and leased runs. */
export const nextDue = {
  name: "next_due",
  text: msUntilFirst(
    `select min(due_at) from runs where ${due.where} and due_at >= ${nextFrom.due} and ${notFull("$3::uuid[]")}`,
    leaseExpires,
    `select min(next_try_at) from runs
      where ${waiting.where} and next_try_at >= ${nextFrom.waiting} and $2::bool and ${notInHand("$1::uuid[]")} and ${notFull("$3::uuid[]")}`,
  ),
};

// When agents are at their limit, the first runs in the order of time are read as above, in case enough are of others. If
// not, the indexes by agent give the first run of each agent, one look-up each, and then more of those that have waited longest.

const firstPastFull = (queue: Queue, also: string) => {
  const { name, where, at } = queue;
  return `${name}_front as materialized (
      select agent_id, ${at} as at from runs where ${where} and ${at} >= ${nextFrom[name]} and ${also}
      order by ${at} limit ${frontMax}
    ), ${name}_near as materialized (
      select min(at) filter (where ${notFull("$3::uuid[]")}) as at, count(*) = ${frontMax} as is_cut from ${name}_front
    ), ${firstByAgent(queue, nextFrom[name], "$1::uuid[]", `select at is null and is_cut from ${name}_near`)}`;
};
const firstOf = (name: string) =>
  `select coalesce((select at from ${name}_near), (select min(at) from ${name}_first where ${notFull("$3::uuid[]")}))`;

/** As `nextDue`, with the indexes by agent. */
export const nextPastFull = {
  name: "next_past_full",
  text: `with recursive ${firstPastFull(due, "true")}, ${firstPastFull(waiting, `$2::bool and ${notInHand("$1::uuid[]")}`)}
    ${msUntilFirst(firstOf("due"), leaseExpires, firstOf("waiting"))}`,
};
