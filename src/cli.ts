// npm run svc: runs an agent's test cases from a shell or CI, over the service's API.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { CliError, type Client, NotFoundError, openClient } from "./cli/client.ts";
import {
  exitCodeOf,
  type FailureKind,
  failureKinds,
  junitOf,
  progressOf,
  type Report,
  type ReportedRun,
  runLines,
  summaryOf,
  unfinishedJunit,
} from "./cli/report.ts";
import type { RunTurn } from "./model/run/launch.ts";
import type { Result } from "./model/run/run.ts";

type RunOptions = {
  agent: string;
  tests?: string[];
  url: string;
  token?: string;
  wait?: true;
  json?: true;
  junit?: string;
  failOn?: FailureKind[];
};

type Launched = Omit<Report["launch"], "counts"> & {
  counts: Report["launch"]["counts"];
  finishedAt: string | null;
  runs: Omit<ReportedRun, "checks" | "turns">[];
};

const pollMs = 1_000;
// A terminal sends Ctrl-C to npm and to this process, and npm may pass it on: the same signal arrives twice.
const sameSignalMs = 2_000;
const outageMaxMs = 60_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// Standard output may be closed early ("| head"); the JUnit file and the exit code must still be written.
process.stdout.on("error", () => {});

const program = new Command("npm run svc --").exitOverride().showHelpAfterError("Add --help for usage.");
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
  .option("--wait", "wait for the results; exit code 1 unless all runs passed or were skipped")
  .option("--json", "print the launch, or with --wait all results, as JSON (use npm run --silent)")
  .option("--junit <file>", "write the results to a JUnit file; implies --wait")
  .option(
    "--fail-on <kinds>",
    "what else fails: skipped (a test or a check was skipped), missing (missing instrumentation, which always fails), separated by commas; implies --wait",
    readFailOn,
  )
  .addHelpText(
    "after",
    "\nExit codes: 0 all passed or skipped, 1 some did not, 2 invalid usage or a request failed, 3 the judge was unavailable for some checks.",
  )
  .action(async (options: RunOptions, command: Command) => {
    const { token } = options;
    if (!token) command.error("error: no access token: set SVC_TOKEN or pass --token");
    // Not in an option parser, because its error would print the token.
    if (!/^[\x21-\x7e]+$/.test(token)) command.error("error: invalid access token");
    process.exitCode = await run(options, token);
  });

try {
  await program.parseAsync();
} catch (error) {
  // Commander has printed its own errors and the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(
      `${error instanceof CliError ? error.message : ((error as Error).stack ?? error)}\n`,
    );
    process.exitCode = 2;
  }
}

function nonEmpty(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It must not be empty.");
  return text.trim();
}

function readFailOn(text: string): FailureKind[] {
  return text.split(",").map(name => {
    const kind = failureKinds.find(one => one === name.trim());
    if (kind === undefined) throw new InvalidArgumentError(`It must be of ${failureKinds.join(", ")}.`);
    return kind;
  });
}

function serviceUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("It must start with http:// or https://.");
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
  const { junit, failOn } = wanted;
  const client = openClient(wanted.url, token);
  const waits = wanted.wait || junit !== undefined || failOn !== undefined;
  // Progress goes to standard error, so that scripts can read standard output.
  const print = (line: string) => process.stderr.write(`${line}\n`);
  // Retries while the service restarts, during which the launch continues.
  const retryingClient = openClient(wanted.url, token, outageMaxMs);
  const begun: Begun = { junit };
  if (waits) cancelOnSignal(retryingClient, begun, print);
  const agent = await findAgent(client, wanted.agent);
  const testIds = await findTests(client, agent.id, wanted.tests ?? []);
  begun.agent = agent;
  begun.launching = launchTests(client, wanted.url, agent.id, testIds);
  const launch = await begun.launching;
  if (!waits) {
    process.stdout.write(wanted.json ? `${JSON.stringify(launch)}\n` : `Launched ${launch.id}\n`);
    return 0;
  }
  print(`Running ${launch.testCount} ${launch.testCount === 1 ? "test" : "tests"} of ${agent.name}.`);
  const ended = await follow(retryingClient, launch, begun, print);
  const report: Report = { agent, launch: ended, runs: await withChecks(retryingClient, ended.runs) };
  if (junit) writeJunit(junit, junitOf(report));
  const lines = [...report.runs.flatMap(runLines), "", summaryOf(report)];
  process.stdout.write(
    wanted.json ? `${JSON.stringify({ ...ended, runs: report.runs })}\n` : `${lines.join("\n")}\n`,
  );
  return exitCodeOf(report, failOn);
}

async function launchTests(
  client: Client,
  url: string,
  agentId: string,
  testIds: string[] | undefined,
): Promise<Launched> {
  const launch = await client<Launched>("POST", `/api/agents/${agentId}/launches`, {
    source: "cli",
    ...(testIds && { testIds }),
  });
  if (typeof launch.id !== "string") throw new CliError(`${url} is not an Onlooker service.`);
  return launch;
}

/** Polls until the launch has finished, and prints its progress whenever that changes. */
async function follow(
  client: Client,
  launched: Launched,
  begun: Begun,
  print: (line: string) => void,
): Promise<Launched> {
  let printed = progressOf(launched, []);
  for (;;) {
    const launch = await client<Launched>("GET", `/api/launches/${launched.id}`);
    if (launch.finishedAt !== null) return launch;
    begun.latest = launch;
    const line = progressOf(launch, launch.runs);
    if (line !== printed) print(line);
    printed = line;
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
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
function cancelOnSignal(client: Client, begun: Begun, print: (line: string) => void): void {
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
      print((error as Error).message);
      end(2);
    });
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (firstAt === undefined) {
        firstAt = performance.now();
        print("Cancelling.");
        void cancel();
      } else if (performance.now() - firstAt > sameSignalMs) end(1);
    });
  }
}

/** Writes what is known of a launch that is not waited for. */
function writeKnown({ junit, agent, latest }: Begun): void {
  if (junit === undefined || !agent || !latest) return;
  const runs = latest.runs.map(run => ({ ...run, turns: [], checks: [] }));
  writeJunit(junit, junitOf({ agent, launch: latest, runs }));
}

async function withChecks(client: Client, runs: Launched["runs"]): Promise<ReportedRun[]> {
  const reported: ReportedRun[] = [];
  for (const run of runs) {
    const { results, turns } = await client<{ results: Result[]; turns: RunTurn[] }>(
      "GET",
      `/api/runs/${run.id}`,
    );
    reported.push({ ...run, turns, checks: results.flatMap(describedChecks) });
  }
  return reported;
}

function describedChecks({ checks, test }: Result): ReportedRun["checks"] {
  const descriptions = new Map(test.assertions.map(({ id, description }) => [id, description]));
  return checks.map(check => {
    const description = descriptions.get(check.id);
    return description === undefined ? check : { ...check, description };
  });
}

type Named = { id: string; name: string };

async function findAgent(client: Client, wanted: string): Promise<Named> {
  if (uuid.test(wanted)) {
    return client<Named>("GET", `/api/agents/${wanted}`).catch(error => {
      throw error instanceof NotFoundError ? new CliError(`No agent with id ${wanted}.`) : error;
    });
  }
  const found: (Named & { project: string })[] = [];
  for (const project of await listAll(client, "/api/projects")) {
    for (const agent of await listAll(client, `/api/projects/${project.id}/agents`)) {
      if (agent.name === wanted) found.push({ ...agent, project: project.name });
    }
  }
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CliError(`No agent named “${wanted}”.`);
  const choice = found.map(({ id, project }) => `${id} (${project})`).join(", ");
  throw new CliError(`Several agents are named “${wanted}”. Pass one of their ids: ${choice}.`);
}

/** Undefined if none were passed. */
async function findTests(client: Client, agentId: string, wanted: string[]): Promise<string[] | undefined> {
  if (wanted.length === 0) return undefined;
  const tests = await listAll(client, `/api/agents/${agentId}/tests`);
  const find = (test: string) => tests.filter(({ id, name }) => id === test.toLowerCase() || name === test);
  const named = wanted.flatMap(text =>
    find(text).length > 0 ? [text] : text.split(",").map(test => test.trim()),
  );
  return named.map(test => {
    if (test === "") throw new CliError("--tests contains an empty name.");
    const found = find(test);
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) throw new CliError(`The agent has no test “${test}”.`);
    const ids = found.map(({ id }) => id).join(", ");
    throw new CliError(`Several tests are named “${test}”. Pass one of their ids: ${ids}.`);
  });
}

async function listAll(client: Client, path: string): Promise<Named[]> {
  const all: Named[] = [];
  for (let cursor = ""; ; ) {
    const page = await client<{ items: Named[]; nextCursor: string | null }>(
      "GET",
      `${path}?limit=200${cursor && `&cursor=${cursor}`}`,
    );
    all.push(...page.items);
    if (page.nextCursor === null) return all;
    cursor = page.nextCursor;
  }
}

/** Not asynchronous: a signal that ends the process finds no half-written file. */
function writeJunit(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (error) {
    throw new CliError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}
