// npm run torture: sends traces to a service while it is killed, its database crashes and its connections break, and then
// checks that everything acknowledged is stored, once.
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { clockLibrary } from "./clock-library.ts";
import { type Goal, type Goals, goalNames, missing, reached } from "./goals.ts";
import { type Fault, faults } from "./nemesis.ts";
import { torture } from "./torture.ts";

const findingsShown = 50;

const integer = (text: string) => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("Expected a whole number.");
  return value;
};

const goalOptions: Record<Goal, string> = {
  kills: "--kills <number>",
  databaseKills: "--database-kills <number>",
  diskFull: "--disk-full <number>",
  failovers: "--failovers <number>",
  races: "--races <number>",
  acknowledgements: "--acknowledgements <number>",
};

type Options = {
  seed: number;
  seconds?: number;
  nodes: number;
  clients: number;
  faults: Fault[];
  keep?: true;
} & Goals;

const command = new Command("npm run torture --")
  .description(
    "Sends traces while faults happen, and checks that everything acknowledged is stored, once, and evaluated once.",
  )
  .option(
    "--seed <number>",
    "what is sent and what goes wrong, in which order",
    integer,
    Date.now() % 2 ** 31,
  )
  .option("--seconds <number>", "how long faults happen (default: 120; with a goal, 7200 at most)", integer)
  .option("--nodes <number>", "processes of the service", integer, 2)
  .option("--clients <number>", "concurrent clients", integer, 4 * availableParallelism())
  .option("--keep", "with findings, keeps the database until Ctrl-C, to be looked at")
  .addOption(new Option("--faults <names...>", "what goes wrong").choices(faults).default([...faults]));
for (const flags of Object.values(goalOptions)) command.option(flags, "goes on until so many", integer);
const options = command.parse().opts<Options>();

const goals: Goals = Object.fromEntries(
  goalNames.flatMap(goal => (options[goal] === undefined ? [] : [[goal, options[goal]]])),
);
const hasGoals = Object.keys(goals).length > 0;
const secondsMax = options.seconds ?? (hasGoals ? 7_200 : 120);

if (!clockLibrary && options.faults.includes("move-clock")) {
  print("No clock is moved in this run: install libfaketime (Debian: faketime).");
}
let isInterrupted = false;
const withoutCheck = new AbortController();
/** The third time, the process ends at once and leaves the rest to the user. */
const interrupt = () => {
  if (isInterrupted) {
    process.off("SIGINT", interrupt);
    withoutCheck.abort();
    print("Ending without the check.");
  } else {
    isInterrupted = true;
    print("Ending the faults. Press Ctrl-C again to end without the check.");
  }
};
process.on("SIGINT", interrupt);
print(`seed ${options.seed}, ${options.nodes} nodes, ${options.clients} clients, at most ${secondsMax} s`);
const result = await torture({
  ...options,
  goals,
  async until(ledger, deeds) {
    const started = performance.now();
    const elapsed = () => (performance.now() - started) / 1_000;
    for (let told = 0; elapsed() < secondsMax && !isInterrupted; ) {
      if (hasGoals && missing(goals, ledger, deeds).length === 0) return;
      await delay(Math.min(1_000, (secondsMax - elapsed()) * 1_000));
      if (elapsed() - told < 60) continue;
      told = elapsed();
      print(
        `${told.toFixed(0)} s: ${goalNames.map(goal => `${goal} ${reached(goal, ledger, deeds)}`).join(", ")}`,
      );
    }
  },
  say: print,
  signal: withoutCheck.signal,
  async onFindings(findings, databaseUrl) {
    for (const finding of findings.slice(0, findingsShown)) print(`FOUND ${finding}`);
    if (!options.keep) return;
    print(`The database is ${databaseUrl} until Ctrl-C.`);
    process.off("SIGINT", interrupt);
    // A signal alone does not keep the process running.
    const waiting = setInterval(() => {}, 60_000);
    await once(process, "SIGINT");
    clearInterval(waiting);
  },
});

// Of the check, something may still be going on, which fails now that its processes have ended.
if (!result) process.exit(1);
const { report, ledger, deeds, crashes, seconds } = result;
print(`\n${ledger.acknowledgements} acknowledgements in ${seconds.toFixed(0)} s, ${ledger.races} races`);
const answers = [...ledger.statuses].toSorted(([a], [b]) => a - b);
print(`answers: ${answers.map(([status, count]) => `${status || "none"} ${count}`).join(", ")}`);
for (const [deed, count] of [...deeds].toSorted(([a], [b]) => a.localeCompare(b))) print(`${deed}: ${count}`);
if (crashes > 0) print(`ended by themselves while PostgreSQL was away: ${crashes}`);
print(
  `stored: ${report.traces} traces, ${report.spans} spans; ${report.runs} runs; backlog drained in ${(report.drainedMs / 1_000).toFixed(1)} s`,
);
if (report.killed > 0)
  print(`traces whose run became an error, because its process was killed three times: ${report.killed}`);
print(`${report.findings.length} findings`);
const left = missing(goals, ledger, deeds);
for (const goal of left) print(`not reached: ${goal}`);
process.exit(report.findings.length > 0 || left.length > 0 ? 1 : 0);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
