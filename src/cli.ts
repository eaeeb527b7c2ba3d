// npm run svc: runs an agent's test cases or erases data over the service's API, backs up and restores its database, and distributes it over a cluster.
import { Command, CommanderError, Option } from "commander";
import { addBackup } from "./cli/backup.ts";
import { CliError, type Client, openClient } from "./cli/client.ts";
import { addErase } from "./cli/erase.ts";
import { findAgent, findTests, type Named } from "./cli/find.ts";
import { junitOf, unfinishedJunit, writeJunit } from "./cli/junit.ts";
import { follow, type Launched, launchTests, readRuns } from "./cli/launches.ts";
import { nonEmpty, readFailOn, readRepeats, readShare, requireToken, serviceUrl } from "./cli/options.ts";
import { print, printJson, say } from "./cli/print.ts";
import { exitCodeOf, type FailureKind, type Report, reportLines, summaryOf } from "./cli/report.ts";
import { addScale } from "./cli/scale.ts";
import { commandName } from "./config/package.ts";

type RunOptions = {
  agent: string;
  tests?: string[];
  url: string;
  token?: string;
  wait?: true;
  json?: true;
  junit?: string;
  failOn?: FailureKind[];
  repeats?: number;
  minPassRate?: number;
};

// A terminal sends Ctrl-C to npm and to this process, and npm may pass it on: the same signal arrives twice.
const sameSignalMs = 2_000;
const outageMaxMs = 60_000;

// Standard output may be closed early ("| head"); the JUnit file and the exit code must still be written.
process.stdout.on("error", () => {});

const program = new Command(commandName("svc")).exitOverride().showHelpAfterError("Add --help for usage.");
program
  .command("run")
  .description("Runs test cases of an agent.")
  .requiredOption("--agent <id or name>", "the agent")
  .option(
    "--tests <ids or names>",
    "the tests, separated by commas, disabled ones included; repeat the option for names with commas (default: all Active tests)",
    (text: string, before: string[] = []) => [...before, nonEmpty(text)],
  )
  .option("--url <url>", "the service", serviceUrl, "http://localhost:4000")
  .addOption(new Option("--token <token>", "an access token, created in Settings").env("SVC_TOKEN"))
  .option(
    "--repeats <number>",
    "how often each input of a test is sent, in place of the tests' own repeats",
    readRepeats,
  )
  .option("--wait", "wait for the results; exit code 1 unless all runs passed or were skipped")
  .option("--json", "print the launch, or with --wait all results, as JSON (use npm run --silent)")
  .option("--junit <file>", "write the results to a JUnit file; implies --wait")
  .option(
    "--fail-on <kinds>",
    "what else fails: skipped (a test or a check was skipped), missing (missing instrumentation, which always fails), separated by commas; implies --wait",
    readFailOn,
  )
  .option(
    "--min-pass-rate <share>",
    "tolerate failed runs of a test if this share of its runs passed, such as 0.9 or 90%; passed runs count if they are fully evaluated; each test must reach it; implies --wait",
    readShare,
  )
  .addHelpText(
    "after",
    "\nExit codes: 0 all passed or were skipped and are fully evaluated, or reached the pass rate, 1 some did not, 2 invalid usage or a request failed, 3 the judge was unavailable for some checks.",
  )
  .action(async (options: RunOptions, command: Command) => {
    process.exitCode = await run(options, requireToken(command, options.token));
  });
addErase(program);
addBackup(program);
addScale(program);

try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its own errors and the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    if (error instanceof CliError) say(error.message);
    else for (const line of String((error as Error).stack ?? error).split("\n")) say(line);
    process.exitCode = 2;
  }
}

async function run(wanted: RunOptions, token: string): Promise<number> {
  const { junit } = wanted;
  // Fails before anything is asked for, and replaces the results of an earlier build: however this process ends, the file
  // is valid, and not of that build.
  if (junit) writeJunit(junit, unfinishedJunit(wanted.agent, "The run did not finish."));
  try {
    return await runTests(wanted, token);
  } catch (error) {
    if (junit) writeJunit(junit, unfinishedJunit(wanted.agent, (error as Error).message));
    throw error;
  }
}

async function runTests(wanted: RunOptions, token: string): Promise<number> {
  const { junit, failOn, repeats, minPassRate } = wanted;
  const client = openClient(wanted.url, token);
  const waits = wanted.wait || junit !== undefined || failOn !== undefined || minPassRate !== undefined;
  // Retries while the service restarts, during which the launch continues.
  const retryingClient = openClient(wanted.url, token, outageMaxMs);
  const begun: Begun = { junit };
  if (waits) cancelOnSignal(retryingClient, begun);
  const agent = await findAgent(client, wanted.agent);
  const testIds = await findTests(client, agent.id, wanted.tests ?? []);
  begun.agent = agent;
  begun.launching = launchTests(client, wanted.url, agent.id, { testIds, repeats });
  const launch = await begun.launching;
  if (!waits) {
    if (wanted.json) printJson(launch);
    else print(`Launched ${launch.id}`);
    return 0;
  }
  say(beginning(launch, agent));
  const keepLatest = (latest: Launched) => {
    begun.latest = latest;
  };
  const ended = await follow(retryingClient, launch, keepLatest);
  const runs = await readRuns(retryingClient, ended.id, wanted.json === true);
  const report: Report = { agent, launch: ended, tests: ended.tests, runs };
  if (junit) writeJunit(junit, junitOf(report));
  if (wanted.json) printJson({ ...ended, runs, nextCursor: null });
  else for (const line of [...reportLines(report, minPassRate), "", summaryOf(report)]) print(line);
  return exitCodeOf(report, { failOn, minPassRate });
}

/** "Running 3 tests of Support agent: 45 test runs." */
function beginning({ testCount, runCount }: Launched, { name }: Named): string {
  const tests = `Running ${testCount} ${testCount === 1 ? "test" : "tests"} of ${name}`;
  return runCount === testCount ? `${tests}.` : `${tests}: ${runCount} test runs.`;
}

/** How far the command is: what a signal cancels, and what the JUnit file then says. */
type Begun = {
  junit: string | undefined;
  agent?: Named;
  launching?: Promise<Launched>;
  latest?: Launched;
};

/**
 * On a signal, cancels the launch, even if its request is still open; the results are then written as usual. A second
 * signal ends the process without waiting for them. The JUnit file is valid in every case.
 */
function cancelOnSignal(client: Client, begun: Begun): void {
  let firstAt: number | undefined;
  const end = (code: number): never => {
    writeKnown(begun);
    return process.exit(code);
  };
  const cancel = async () => {
    if (!begun.launching) return end(1);
    // If launching failed, there is nothing to cancel, and run() reports the error.
    const launch = await begun.launching.catch(() => undefined);
    await (launch && client("POST", `/api/launches/${launch.id}/cancel`))?.catch(error => {
      say((error as Error).message);
      end(2);
    });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        say("Cancelling.");
        void cancel();
      } else if (performance.now() - firstAt > sameSignalMs) end(1);
    });
  }
}

/** Writes what is known of a launch that is not waited for. */
function writeKnown({ junit, agent, latest }: Begun): void {
  if (junit === undefined || !agent || !latest) return;
  const runs = latest.runs.map(run => ({ ...run, turns: [], checks: [] }));
  writeJunit(junit, junitOf({ agent, launch: latest, tests: latest.tests, runs }));
}
