// What evaluating 20 deterministic tests costs a trace, beside what its ingestion costs.
import { setTimeout as sleep } from "node:timers/promises";
import { openAccount } from "./account.ts";
import type { Given, Parts } from "./benchmark.ts";
import { cpuSeconds, peakMb } from "./processes.ts";
import { hasQueue, openStand, type Stand } from "./stand.ts";

type Point = { runs: number; open: number; seconds: number; service: number; postgres: number };

export async function open(given: Given): Promise<Parts> {
  const stand = await openStand(given);
  const env = { SVC_DEBOUNCE_MS: "0", SVC_EVALUATORS: "1" };
  const receiver = await stand.startService(env);
  const account = await openAccount(stand.databaseUrl, receiver.url);
  const { agentId, apiKey: key } = await account.project({ serviceName: "judged", tests: 20 });
  const measure = async () => {
    const to = {
      key,
      format: "protobuf",
      serviceName: "judged",
      url: `${receiver.url}/public/traces`,
    } as const;
    const traces = Math.max(1_000, Math.round(given.seconds * 1_000));
    const amount = { connections: 32, traces, seconds: 0, warmUpSeconds: 0 };
    const sent = await stand.drive({ ...to, ...amount }, receiver.service);
    const { service: worker } = await stand.startService({ ...env, SVC_ROLES: "worker" });
    const { from, last } = await evaluated(stand, agentId, worker.pid);
    const peak = peakMb(worker.pid);
    await worker.stop();
    const runs = last.runs - from.runs;
    if (runs === 0) throw new Error("Too few traces to measure: set BENCH_SECONDS higher.");
    const each = (what: "service" | "postgres") => ((last[what] - from[what]) / runs) * 1e6;
    const evaluating = each("service") + each("postgres");
    return {
      "evaluation: service µs a trace": each("service"),
      "evaluation: PostgreSQL µs a trace": each("postgres"),
      "ingestion: service µs a trace": (sent.service / traces) * 1e6,
      "ingestion: PostgreSQL µs a trace": (sent.postgres / traces) * 1e6,
      "evaluation to ingestion": evaluating / (((sent.service + sent.postgres) / traces) * 1e6),
      "traces/s by one thread": runs / (last.seconds - from.seconds),
      "peak MB of the worker": peak,
    };
  };
  return [measure];
}

/** Waits until all are evaluated. The first third is not counted: starting the worker and compiling its code are in it. */
async function evaluated(stand: Stand, agentId: string, pid: number): Promise<{ from: Point; last: Point }> {
  const before = await countRuns(stand, agentId);
  const due = before.open;
  let counted = 0;
  // Reading all runs ten times a second would be a tenth of what PostgreSQL is seen to take.
  const progress = async () => {
    const { rows } = await stand.database.query<{ runs: number }>(
      "select coalesce(sum(runs), 0)::int as runs from agent_hours where agent_id = $1",
      [agentId],
    );
    const runs = rows[0]!.runs - before.runs;
    const hasMoved = runs > counted && runs < due;
    counted = runs;
    if (hasMoved) return { runs, open: due - runs };
    const all = await countRuns(stand, agentId);
    return { runs: all.runs - before.runs, open: all.open };
  };
  let from: Point | undefined;
  for (;;) {
    await sleep(100);
    const last = {
      ...(await progress()),
      seconds: performance.now() / 1000,
      service: cpuSeconds(pid),
      postgres: stand.postgresSeconds(),
    };
    if (last.runs * 3 >= due) from ??= last;
    if (last.open === 0) return { from: from!, last };
  }
}

async function countRuns({ database }: Stand, agentId: string): Promise<Pick<Point, "runs" | "open">> {
  // A commit without a queue has them among the runs.
  const counted = (await hasQueue(database))
    ? "(select count(*)::int from queue where agent_id = $1)"
    : "count(*) filter (where state in ('pending', 'running'))::int";
  const { rows } = await database.query<{ open: number; runs: number; bad: number }>(
    `select ${counted} as open,
      count(*) filter (where state = 'completed')::int as runs,
      count(*) filter (where state = 'error' or verdict <> 'passed')::int as bad
    from runs where agent_id = $1`,
    [agentId],
  );
  const { open, runs, bad } = rows[0]!;
  if (bad > 0) throw new Error(`${bad} runs did not pass`);
  return { open, runs };
}
