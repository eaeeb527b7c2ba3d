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

/** How many are read in the order of time. */
const frontMax = 128;

/**
 * A recursive CTE: when the first run of each agent is due, from `from` on and but for runs in hand. Empty unless `isNeeded`.
 * Of a limited number of agents if `part` is given.
 */
const firstByAgent = (
  { name, at, byAgent }: Pick<Queue, "at" | "byAgent"> & { name: string },
  from: string,
  inHand: string,
  isNeeded: string,
  part?: { isOnSide: string; agentsMax: number },
) => {
  const isOnSide = part ? `and ${part.isOnSide}` : "";
  const first = (
    where: string,
    number: string,
  ) => `select agent_id, ${at} as at, ${number} as number from runs
    where ${byAgent} and ${at} >= ${from} and ${notInHand(inHand)} and ${where} ${isOnSide} order by agent_id, ${at} limit 1`;
  const further = first(`agent_id > ${name}_first.agent_id`, `${name}_first.number + 1`);
  return `${name}_first as (
      (${first(`(${isNeeded})`, "1")})
      union all
      select further.* from ${name}_first, lateral (${further}) further
      ${part ? `where ${name}_first.number < ${part.agentsMax}` : ""}
    )`;
};

// Turns. The first due runs are read in the order of time. If they may not be all, the index by agent gives the first run of
// each agent, one look-up each: what one account has queued is never read through to find what others have.

/** How many agents are looked up on each side of `agentsAfter`: further ones are found by the next claims. */
const agentsMax = 128;

/** CTEs that lock up to `limit` runs by turns, as `…_claimed`: of accounts, then of the agents of each, then by time. */
const lockByTurns = (queue: Queue, limit: string) => {
  const { name, where, at, byAgent, stillThere } = queue;
  const from = claimFrom[name];
  const isCut = `(select is_cut from ${name}_depth)`;
  const heads = (side: string, isOnSide: string) =>
    firstByAgent({ ...queue, name: `${name}_${side}` }, from, "$5", isCut, { isOnSide, agentsMax });
  const isOpen = (time: string) => `${time} <= now() and ${notFull("$6")}`;
  return `${name}_front as materialized (
      select id, agent_id, ${at} as at from runs where ${where} and ${at} <= now() and ${at} >= ${from}
      order by ${at} limit ${frontMax}
    ), ${name}_depth as materialized (select count(*) = ${frontMax} as is_cut from ${name}_front),
    ${heads("after", "agent_id > $11::uuid")}, ${heads("before", "agent_id <= $11::uuid")}, ${name}_seen as materialized (
      select agent_id, min(at) as at, ${accountOf("first.agent_id")} as account_id from (
        select agent_id, at from ${name}_front where not ${isCut} and ${isOpen("at")}
        union all select agent_id, at from ${name}_after_first where ${isOpen("at")}
        union all select agent_id, at from ${name}_before_first where ${isOpen("at")}
      ) first group by agent_id
    ), ${name}_agents as materialized (
      select agent_id, at from (
        select *, row_number() over (partition by account_id order by ${lastTurn("$10::uuid[]", "agent_id")}, at) as place from ${name}_seen
      ) seen order by place, ${lastTurn("$9::text[]", "account_id")}, at limit ${runsMax}
    ), ${name}_candidates as materialized (
      select id, agent_id, at from ${name}_front where not ${isCut} and ${notInHand("$5")} and ${notFull("$6")}
      union all
      select run.* from ${name}_agents agent, lateral (
        select id, agent_id, ${at} as at from runs
        where ${byAgent} and agent_id = agent.agent_id and ${at} >= agent.at and ${at} <= now() and ${notInHand("$5")}
        order by ${at} limit least(${runsMax}, (select 4 * ${runsMax} / count(*) + 1 from ${name}_agents))
      ) run where ${isCut}
    ), ${name}_turns as materialized (
      select array_agg(id order by place, ${lastTurn("$9::text[]", "account_id")}, at) as ids from (
        select *, row_number() over (partition by account_id order by agent_place, ${lastTurn("$10::uuid[]", "agent_id")}, at) as place
        from (
          select id, candidate.agent_id, candidate.at, account_id,
            row_number() over (partition by candidate.agent_id order by candidate.at, id) as agent_place
          from ${name}_candidates candidate join ${name}_seen seen on seen.agent_id = candidate.agent_id
        ) of_agents
      ) of_accounts
    ), ${name}_claimed as (
      select id from runs where id = any ((select ids from ${name}_turns)::uuid[]) and ${stillThere}
      order by array_position((select ids from ${name}_turns), id) limit ${limit} for update skip locked
    )`;
};

/** When its last turn was: those without one come first. */
const lastTurn = (turns: string, id: string) => `coalesce(array_position(${turns}, ${id}), 0)`;

/**
 * Parameters: the lease and its ms, how many runs, how many that waited, ids in hand, agents at their limit, starts of due
 * and waiting runs; accounts and agents in the order of their last turns, and the agent to look for others from.
 */
export const claimDue = {
  name: "claim_due",
  text: `with recursive ${lockByTurns(waiting, waitingMax)}, ${lockByTurns(
    due,
    `${runsMax} - (select count(*) from waiting_claimed)`,
  )}
    ${markClaimed("waiting_claimed", "due_claimed")}`,
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
