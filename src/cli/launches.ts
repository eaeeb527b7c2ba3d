// Starts a launch, follows it until it has finished, and reads its results.
import type { RunTurn } from "../model/run/launch.ts";
import type { Result } from "../model/run/run.ts";
import { CliError, type Client } from "./client.ts";
import { listAll } from "./find.ts";
import { say } from "./print.ts";
import { progressOf, type Report, type ReportedRun } from "./report.ts";

type ListedRun = Omit<ReportedRun, "checks" | "turns">;

/** As the API answers a launch: with its first runs. */
export type Launched = Report["launch"] & {
  finishedAt: string | null;
  tests: Report["tests"];
  waiting: { runs: number; reason: string } | null;
  runs: ListedRun[];
};

const pollMs = 1_000;
/** What is known of runs if the command is ended early. */
const polledRunsMax = 100;

/** `testIds` and `repeats`: undefined for all Active tests, and for the tests' own repeats. */
export async function launchTests(
  client: Client,
  url: string,
  agentId: string,
  { testIds, repeats }: { testIds: string[] | undefined; repeats: number | undefined },
): Promise<Launched> {
  const launch = await client<Launched>("POST", `/api/agents/${agentId}/launches`, {
    source: "cli",
    ...(testIds && { testIds }),
    ...(repeats !== undefined && { repeats }),
  });
  if (typeof launch.id !== "string") throw new CliError(`${url} is not an Onlooker service.`);
  return launch;
}

/** Polls until the launch has finished, and says its progress: `onPoll` gets each answer. */
export async function follow(
  client: Client,
  launched: Launched,
  onPoll: (launch: Launched) => void,
): Promise<Launched> {
  const isWorthPrinting = printingPace(progressOf(launched));
  for (;;) {
    const launch = await client<Launched>("GET", `/api/launches/${launched.id}?limit=${polledRunsMax}`);
    if (launch.finishedAt !== null) return launch;
    onPoll(launch);
    const line = progressOf(launch, launch.waiting);
    if (isWorthPrinting(line, launch.runCount - launch.counts.open, launch.runCount)) say(line);
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
}

const printedPart = 1 / 20;
const printedEveryMs = 30_000;

/** A line is printed if it is new, and a twentieth of the runs or half a minute after the last: about 20 in all. */
export function printingPace(
  first: string,
  now = () => performance.now(),
): (line: string, done: number, of: number) => boolean {
  let printed = { line: first, done: 0, at: now() };
  return (line, done, of) => {
    if (line === printed.line) return false;
    if (done - printed.done < of * printedPart && now() - printed.at < printedEveryMs && of > 1 / printedPart)
      return false;
    printed = { line, done, at: now() };
    return true;
  };
}

// The service answers a run in some milliseconds.
const readAtOnce = 8;

/** All runs of the launch; their turns and checks are read if some check did not pass, or with `all`. */
export async function readRuns(client: Client, launchId: string, all: boolean): Promise<ReportedRun[]> {
  const listed = await listAll<ListedRun>(client, `/api/launches/${launchId}/runs`);
  const reported = listed.map((run): ReportedRun => ({ ...run, turns: [], checks: [] }));
  const waiting = reported.filter(run => all || !isPlainPass(run));
  const read = async () => {
    for (let run = waiting.pop(); run; run = waiting.pop()) {
      const { results, turns } = await client<{ results: Result[]; turns: RunTurn[] }>(
        "GET",
        `/api/runs/${run.id}`,
      );
      Object.assign(run, { turns, checks: results.flatMap(describedChecks) });
    }
  };
  await Promise.all(Array.from({ length: readAtOnce }, read));
  return reported;
}

function isPlainPass({ verdict, checkCounts }: ListedRun): boolean {
  return verdict === "passed" && checkCounts?.skipped === 0;
}

function describedChecks({ checks, test }: Result): ReportedRun["checks"] {
  const descriptions = new Map(test.assertions.map(({ id, description }) => [id, description]));
  return checks.map(check => {
    const description = descriptions.get(check.id);
    return description === undefined ? check : { ...check, description };
  });
}
