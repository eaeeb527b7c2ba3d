// What evaluating 20 deterministic tests costs a trace, beside what its ingestion costs.
import { setTimeout as sleep } from "node:timers/promises";
import { print } from "./figures.ts";
import { cpuSeconds, peakMb } from "./processes.ts";
import { makeProject } from "./project.ts";
import type { Stand } from "./stand.ts";

const tests = 20;

type Point = { runs: number; open: number; seconds: number; service: number; postgres: number };

export async function evaluation(stand: Stand, { seconds }: { seconds: number }): Promise<void> {
  const { agentId, apiKey } = await makeProject(stand.databaseUrl, { serviceName: "judged", tests });
  const env = { SVC_DEBOUNCE_MS: "0", SVC_EVALUATORS: "1" };
  const receiver = await stand.startService({ SVC_ROLES: "http", ...env });
  const input = { key: apiKey, format: "protobuf", serviceName: "judged", connections: 32 } as const;
  const to = { ...input, url: `${receiver.url}/public/traces`, warmUpSeconds: 0 };
  // The first is the warm-up.
  await stand.drive({ ...to, seconds: seconds / 2 }, receiver.service, "prepared");
  const sent = await stand.drive({ ...to, seconds }, receiver.service, "prepared");
  await receiver.service.stop();

  print(`\nEvaluation: ${tests} deterministic tests a trace`);
  const { service: worker } = await stand.startService({ SVC_ROLES: "worker", ...env });
  const { open: due } = await countRuns(stand, agentId);
  let counted = 0;
  const point = async (): Promise<Point> => ({
    ...(await progress()),
    seconds: performance.now() / 1000,
    service: cpuSeconds(worker.pid),
    postgres: stand.postgresSeconds(),
  });
  // Reading all runs ten times a second would be a tenth of what PostgreSQL is seen to take.
  const progress = async () => {
    const { rows } = await stand.database.query<{ runs: number }>(
      "select coalesce(sum(runs), 0)::int as runs from agent_hours where agent_id = $1",
      [agentId],
    );
    const { runs } = rows[0]!;
    const hasMoved = runs > counted && runs < due;
    counted = runs;
    return hasMoved ? { runs, open: due - runs } : countRuns(stand, agentId);
  };
  const first = await point();
  // Starting the worker and compiling its code are in the first third.
  let began: Point | undefined;
  let last = first;
  while (last.open > 0) {
    await sleep(100);
    last = await point();
    if (last.runs * 3 >= last.runs + last.open) began ??= last;
  }
  const from = began!;
  const runs = last.runs - from.runs;
  if (runs === 0) throw new Error("Too few traces to measure: set BENCH_SECONDS higher.");
  const each = (total: number, of: number) => (total / of) * 1e6;
  const evaluating = {
    service: each(last.service - from.service, runs),
    postgres: each(last.postgres - from.postgres, runs),
  };
  const ingesting = { service: each(sent.service, sent.traces), postgres: each(sent.postgres, sent.traces) };
  const rates = [evaluating, ingesting].map(({ service, postgres }) => 1e6 / (service + postgres));
  const told = ({ service, postgres }: typeof evaluating) =>
    `service ${service.toFixed(0)}, PostgreSQL ${postgres.toFixed(0)}`;
  print(
    `${(runs / (last.seconds - from.seconds)).toFixed(0)} traces/s by one thread (${runs} of ${last.runs}); peak RSS ${peakMb(worker.pid).toFixed(0)} MB`,
  );
  print(`CPU µs a trace: evaluation ${told(evaluating)}; ingestion ${told(ingesting)}`);
  print(
    `traces/s of one core: evaluation ${rates[0]!.toFixed(0)}, ingestion ${rates[1]!.toFixed(0)}, ratio ${(rates[0]! / rates[1]!).toFixed(2)}`,
  );
  await worker.stop();
}

async function countRuns({ database }: Stand, agentId: string): Promise<Pick<Point, "runs" | "open">> {
  const { rows } = await database.query<{ open: number; runs: number; bad: number }>(
    `select count(*) filter (where state in ('pending', 'running'))::int as open,
      count(*) filter (where state = 'completed')::int as runs,
      count(*) filter (where state = 'error' or verdict <> 'passed')::int as bad
    from runs where agent_id = $1`,
    [agentId],
  );
  const { open, runs, bad } = rows[0]!;
  if (bad > 0) throw new Error(`${bad} runs did not pass`);
  return { open, runs };
}
