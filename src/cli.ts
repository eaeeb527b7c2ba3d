// npm run svc: runs an agent's test cases from a shell or CI, over the API of a service.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { CliError, type Client, NotThere, openClient } from "./cli/client.ts";
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

const usage = `npm run svc -- run --agent <id or name> [options]

  --tests <ids or names>  Those to run, separated by commas; disabled ones too. Default: every Active test.
                          May be given again; a name with a comma stands alone.
  --url <address>         The service. Default: http://localhost:4000
  --token <token>         An access token, made in Settings. Default: the variable SVC_TOKEN
  --wait                  Wait for the results, and end with 1 unless everything passed or was skipped.
  --json                  Write the launch, or with --wait all results, as JSON. Keep npm's own words out of it
                          with npm run --silent.
  --junit <file>          Write the results as a JUnit file; waits for them.

Ends with 0: all passed or skipped. 1: some did not. 2: wrong use, or the service could not be asked.`;

type Wanted = {
  agent: string;
  tests: string[];
  url: string;
  token: string;
  wait: boolean;
  json: boolean;
  junit: string | undefined;
};

type Launched = Omit<Report["launch"], "counts"> & {
  counts: Report["launch"]["counts"];
  finishedAt: string | null;
  runs: Omit<ReportedRun, "checks" | "turns">[];
};

const pollMs = 1_000;
const awayMaxMs = 60_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

// Where nobody reads on ("| head"), the file and the exit code still count.
process.stdout.on("error", () => {});

try {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === "help") process.stdout.write(`${usage}\n`);
  else process.exitCode = await run(wanted);
} catch (error) {
  const isExpected = error instanceof CliError;
  process.stderr.write(`${isExpected ? error.message : ((error as Error).stack ?? error)}\n`);
  process.exitCode = 2;
}

async function run(wanted: Wanted): Promise<number> {
  const client = openClient(wanted.url, wanted.token);
  const agent = await findAgent(client, wanted.agent);
  const testIds = await findTests(client, agent.id, wanted.tests);
  // Before anything is sent to the agent; and what an earlier build left there is not taken for this one's.
  if (wanted.junit) await write(wanted.junit, "");
  // What is told on the way goes to standard error, so that a script may read standard output.
  const tell = (line: string) => process.stderr.write(`${line}\n`);
  // The service may be restarted meanwhile; the launch goes on.
  const patient = openClient(wanted.url, wanted.token, awayMaxMs);
  const launching = launchTests(client, wanted.url, agent.id, testIds);
  if (wanted.wait) cancelWhenTold(patient, launching, tell);
  const launch = await launching;
  if (!wanted.wait) {
    process.stdout.write(wanted.json ? `${JSON.stringify(launch)}\n` : `Launched ${launch.id}\n`);
    return 0;
  }
  tell(`Running ${launch.testCount} ${launch.testCount === 1 ? "test" : "tests"} of ${agent.name}.`);
  const ended = await follow(patient, launch, tell);
  const report: Report = { agent, launch: ended, runs: await withChecks(patient, ended.runs) };
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
  if (typeof launch.id !== "string") throw new CliError(`${url} does not answer as an Onlooker does.`);
  return launch;
}

/** Polls until the launch has ended, and says how far it is whenever that changes. */
async function follow(client: Client, begun: Launched, tell: (line: string) => void): Promise<Launched> {
  let told = progressOf(begun, []);
  for (;;) {
    const launch = await client<Launched>("GET", `/api/launches/${begun.id}`);
    if (launch.finishedAt !== null) return launch;
    const line = progressOf(launch, launch.runs);
    if (line !== told) tell(line);
    told = line;
    await new Promise(resolve => setTimeout(resolve, pollMs));
  }
}

/** A build that is cancelled leaves nothing running, not even what is being launched; told twice, this ends at once. */
function cancelWhenTold(client: Client, launching: Promise<Launched>, tell: (line: string) => void): void {
  const cancel = async ({ id }: Launched) => client("POST", `/api/launches/${id}/cancel`);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, async () => {
      tell("Cancelling.");
      // Where nothing was launched, there is nothing to cancel, and whoever waits for it says so.
      const launch = await launching.catch(() => undefined);
      await (launch && cancel(launch))?.catch(error => {
        tell((error as Error).message);
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
      throw error instanceof NotThere ? new CliError(`There is no agent of the id ${wanted}.`) : error;
    });
  }
  const found: (Named & { project: string })[] = [];
  for (const project of await listAll(client, "/api/projects")) {
    for (const agent of await listAll(client, `/api/projects/${project.id}/agents`)) {
      if (agent.name === wanted) found.push({ ...agent, project: project.name });
    }
  }
  if (found.length === 1) return found[0]!;
  if (found.length === 0) throw new CliError(`There is no agent of the name “${wanted}”.`);
  const choice = found.map(({ id, project }) => `${id} (${project})`).join(", ");
  throw new CliError(`Several agents have the name “${wanted}”: give the id of one, ${choice}.`);
}

/** Undefined where none is named. */
async function findTests(client: Client, agentId: string, wanted: string[]): Promise<string[] | undefined> {
  if (wanted.length === 0) return undefined;
  const tests = await listAll(client, `/api/agents/${agentId}/tests`);
  const find = (test: string) => tests.filter(({ id, name }) => id === test.toLowerCase() || name === test);
  const named = wanted.flatMap(text =>
    find(text).length > 0 ? [text] : text.split(",").map(test => test.trim()),
  );
  return named.map(test => {
    if (test === "") throw new CliError("--tests holds an empty name.");
    const found = find(test);
    if (found.length === 1) return found[0]!.id;
    if (found.length === 0) throw new CliError(`The agent has no test “${test}”.`);
    const ids = found.map(({ id }) => id).join(", ");
    throw new CliError(`Several tests have the name “${test}”: give the id of one, ${ids}.`);
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
    throw new CliError(`${file} cannot be written: ${(error as Error).message}`);
  }
}

/** Throws CliError, with how it is used, for anything that is not. */
function readArguments(args: string[]): Wanted | "help" {
  const wrong = (why: string) => new CliError(`${why}\n\n${usage}`);
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const parse = () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: {
        agent: text,
        tests: { ...text, multiple: true },
        url: text,
        token: text,
        junit: text,
        wait: flag,
        json: flag,
        help: flag,
      },
    });
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    throw wrong((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (values.help) return "help";
  if (positionals.length !== 1 || positionals[0] !== "run") throw wrong("The one command is run.");
  if (!values.agent) throw wrong("--agent is missing.");
  const token = values.token || process.env["SVC_TOKEN"];
  if (!token) throw wrong("There is no access token: set SVC_TOKEN, or give --token.");
  if (!/^[\x21-\x7e]+$/.test(token)) throw wrong("The access token holds a character that none has.");
  const url = values.url ?? "http://localhost:4000";
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) throw wrong("--url is no address of a service.");
  const tests = values.tests?.map(test => test.trim()) ?? [];
  if (tests.includes("")) throw wrong("--tests holds an empty name.");
  return {
    agent: values.agent,
    tests,
    url: url.replace(/\/+$/, ""),
    token,
    wait: values.wait || values.junit !== undefined,
    json: values.json,
    junit: values.junit,
  };
}
