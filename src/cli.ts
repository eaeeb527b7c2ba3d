// npm run svc: runs an agent's test cases from a shell or CI, over the service's API.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { CliError, type Client, NotFoundError, openClient } from "./cli/client.ts";
import {
  exitCodeOf,
  junitOf,
  progressOf,
  type Report,
  type ReportedRun,
  runLines,
  summaryOf,
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
};

type Launched = Omit<Report["launch"], "counts"> & {
  counts: Report["launch"]["counts"];
  finishedAt: string | null;
  runs: Omit<ReportedRun, "checks" | "turns">[];
};

const pollMs = 1_000;
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
  .addHelpText(
    "after",
    "\nExit codes: 0 all passed or skipped, 1 some did not, 2 invalid usage or a request failed.",
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

function serviceUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? "")) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("It must start with http:// or https://.");
}

async function run(wanted: RunOptions, token: string): Promise<number> {
  const client = openClient(wanted.url, token);
  const waits = wanted.wait || wanted.junit !== undefined;
  const agent = await findAgent(client, wanted.agent);
  const testIds = await findTests(client, agent.id, wanted.tests ?? []);
  // Fails before anything is sent to the agent, and clears the results of an earlier build.
  if (wanted.junit) await write(wanted.junit, "");
  // Progress goes to standard error, so that scripts can read standard output.
  const print = (line: string) => process.stderr.write(`${line}\n`);
  // Retries while the service restarts, during which the launch continues.
  const retryingClient = openClient(wanted.url, token, outageMaxMs);
  const launching = launchTests(client, wanted.url, agent.id, testIds);
  if (waits) cancelOnSignal(retryingClient, launching, print);
  const launch = await launching;
  if (!waits) {
    process.stdout.write(wanted.json ? `${JSON.stringify(launch)}\n` : `Launched ${launch.id}\n`);
    return 0;
  }
  print(`Running ${launch.testCount} ${launch.testCount === 1 ? "test" : "tests"} of ${agent.name}.`);
  const ended = await follow(retryingClient, launch, print);
  const report: Report = { agent, launch: ended, runs: await withChecks(retryingClient, ended.runs) };
  const lines = [...report.runs.flatMap(runLines), "", summaryOf(report)];
  process.stdout.write(
    wanted.json ? `${JSON.stringify({ ...ended, runs: report.runs })}\n` : `${lines.join("\n")}\n`,
  );
  if (wanted.junit) await write(wanted.junit, junitOf(report));
  return exitCodeOf(report);
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
async function follow(client: Client, begun: Launched, print: (line: string) => void): Promise<Launched> {
  let printed = progressOf(begun, []);
  for (;;) {
    const launch = await client<Launched>("GET", `/api/launches/${begun.id}`);
    if (launch.finishedAt !== null) return launch;
    const line = progressOf(launch, launch.runs);
    if (line !== printed) print(line);
    printed = line;
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
}

/** On SIGINT or SIGTERM, cancels the launch, even if its request is still open; a second signal exits immediately. */
function cancelOnSignal(client: Client, launching: Promise<Launched>, print: (line: string) => void): void {
  const cancel = async ({ id }: Launched) => client("POST", `/api/launches/${id}/cancel`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      print("Cancelling.");
      // If launching failed, there is nothing to cancel, and run() reports the error.
      const launch = await launching.catch(() => undefined);
      await (launch && cancel(launch))?.catch(error => {
        print((error as Error).message);
        process.exit(2);
      });
    });
  }
}

async function withChecks(client: Client, runs: Launched["runs"]): Promise<ReportedRun[]> {
  const reported: ReportedRun[] = [];
  for (const run of runs) {
    const { results, turns } = await client<{ results: Result[]; turns: RunTurn[] }>(
      "GET",
      `/api/runs/${run.id}`,
    );
    reported.push({ ...run, turns, checks: results.flatMap(({ checks }) => checks) });
  }
  return reported;
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

async function write(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    throw new CliError(`Cannot write ${file}: ${(error as Error).message}`);
  }
}
