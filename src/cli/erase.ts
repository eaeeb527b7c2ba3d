// The command `svc erase`: a dry run, or the erasure of what a dry run found, followed until its end.

import { text } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { tracesOf } from "../model/erasure.ts";
import { CliError, type Client, openClient } from "./client.ts";
import { findProject } from "./find.ts";
import { nonEmpty, readCount, requireToken, serviceUrl } from "./options.ts";
import { print, printJson, say } from "./print.ts";
import { oneLine } from "./report.ts";

type EraseOptions = {
  project: string;
  userId?: string;
  conversationId?: string;
  externalId?: string;
  traceIds?: string;
  text?: string;
  dryRun?: true;
  confirm?: number;
  url: string;
  token?: string;
  json?: true;
};

type Place = { id: string; name: string; excerpt: string };

/** As the API answers it. */
type Erasure = {
  id: string;
  state: "running" | "done" | "failed";
  step: "find" | "erase";
  matched: number;
  erased: number;
  progress: { read: number; of: number };
  error: string | null;
  matches: {
    traceId: string;
    spanId: string | null;
    in: string;
    path: string;
    excerpt: string;
  }[];
  tests: (Place & { draftedFrom: string | null })[];
  notes: { testName: string; traceId: string; excerpt: string }[];
  views: Place[];
};

const criteria = ["userId", "conversationId", "externalId", "traceIds", "text"] as const;
const pollMs = 500;
const outageMaxMs = 60_000;

const list = (given: string) => given.split(/[,\s]+/).filter(Boolean);

export function addErase(program: Command): void {
  const command: Command = program
    .command("erase")
    .description("Finds everything about a user, a conversation or a text in a project, and erases it.")
    .requiredOption("--project <id or name>", "the project")
    .option(
      "--user-id <id>",
      "the user ID, as it was sent; - reads it from standard input, as for the others",
      nonEmpty,
    )
    .option("--conversation-id <id>", "the conversation ID", nonEmpty)
    .option("--external-id <id>", "an x-request-id or an OTLP trace ID", nonEmpty)
    .option("--trace-ids <ids>", "traces by their IDs here, separated by commas", nonEmpty)
    .option("--text <text>", "a text of at least 4 characters, case-sensitive, anywhere")
    .option("--dry-run", "find, and erase nothing")
    .option("--confirm <number>", "the number of traces that a dry run of the last hour found", readCount)
    .option("--url <url>", "the service", serviceUrl, "http://localhost:4000")
    .addOption(new Option("--token <token>", "an access token for erasing data").env("SVC_TOKEN"))
    .option("--json", "print the dry run or the erasure as JSON (use npm run --silent)")
    .addHelpText(
      "after",
      "\nExit codes: 0 done, 1 it failed or the confirmed number does not match, 2 invalid usage or a request failed.",
    )
    .action(async (options: EraseOptions) => {
      if (criteria.filter(name => options[name] !== undefined).length !== 1) {
        command.error(
          "error: pass exactly one of --user-id, --conversation-id, --external-id, --trace-ids and --text",
        );
      }
      if ((options.dryRun === undefined) === (options.confirm === undefined)) {
        command.error("error: pass either --dry-run, or --confirm with the number that a dry run found");
      }
      process.exitCode = await erase(options, requireToken(command, options.token));
    });
}

async function erase(options: EraseOptions, token: string): Promise<number> {
  // A dry run and an erasure are started once: a lost answer must not start another.
  const client = openClient(options.url, token);
  const { id: projectId } = await findProject(client, options.project);
  const kind = criteria.find(name => options[name] !== undefined)!;
  const given = options[kind]!;
  const value = given === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : given;
  const body = {
    [kind]: kind === "traceIds" ? list(value) : value,
    ...(options.dryRun ? { dryRun: true } : { confirm: options.confirm }),
  };
  let begun: Erasure;
  try {
    begun = await client<Erasure>("POST", `/api/projects/${projectId}/erasures`, body);
  } catch (error) {
    if (!(error instanceof CliError) || !isAboutNumber(error)) throw error;
    say(error.message);
    return 1;
  }
  const ended = await follow(openClient(options.url, token, outageMaxMs), begun);
  if (options.json) printJson(ended);
  else for (const line of options.dryRun ? dryRunLines(ended) : erasureLines(ended)) print(line);
  return ended.state === "done" ? 0 : 1;
}

/** Another number than was confirmed, not another conflict. */
function isAboutNumber({ code, issues = [] }: CliError): boolean {
  return code === "CONFLICT" && issues.some(({ path }) => path === "confirm");
}

async function follow(client: Client, begun: Erasure): Promise<Erasure> {
  let latest = begun;
  let said = "";
  while (latest.state === "running") {
    const line = progressOf(latest);
    if (line !== said) say(line);
    said = line;
    await new Promise(resolve => setTimeout(resolve, pollMs));
    latest = await client<Erasure>("GET", `/api/erasures/${begun.id}`);
  }
  return latest;
}

function progressOf({ step, progress, matched, erased, error }: Erasure): string {
  const what = {
    find: `Searching: ${progress.read} of ${tracesOf(progress.of)} read, ${matched} found.`,
    erase: `Erasing: ${erased} of ${tracesOf(matched)}.`,
  }[step];
  return error ? `${what} ${error}` : what;
}

function erasureLines({ state, matched, erased, error }: Erasure): string[] {
  if (state === "failed") return [`FAILED  ${error ?? "The erasure failed."}`];
  const line = `${erased} of ${tracesOf(matched)} erased.`;
  return error ? [line, error] : [line];
}

function dryRunLines({ state, error, matched, matches, tests, notes, views }: Erasure): string[] {
  if (state === "failed") return [`FAILED  ${error ?? "The dry run failed."}`];
  const rest = matched - matches.length;
  const held = (title: string, items: { id: string; label: string; excerpt: string }[]) =>
    items.length === 0
      ? []
      : [title, ...items.map(({ id, label, excerpt }) => `    ${id}  ${oneLine(`${label}: ${excerpt}`)}`)];
  const isNothing = matched + tests.length + notes.length + views.length === 0;
  return [
    `${tracesOf(matched)} ${matched === 1 ? "matches" : "match"}.`,
    ...(error ? [error] : []),
    ...matches.map(
      match => `    ${match.traceId}  ${oneLine(`${match.in} ${match.path}: ${match.excerpt}`)}`,
    ),
    ...(matches.length > 0 && rest > 0 ? [`    … and ${rest} more`] : []),
    ...held("Tests that have it, to be edited or disabled in the dashboard:", tests.map(labeledTest)),
    ...held(
      "Notes that have it, on these traces, to be edited in the dashboard:",
      notes.map(({ testName, traceId, excerpt }) => ({ id: traceId, label: testName, excerpt })),
    ),
    ...held("Saved views that have it, to be deleted in the dashboard:", labeled(views)),
    isNothing
      ? "Nothing to erase. Check the spelling: case matters."
      : `To erase: the same with --confirm ${matched} in place of --dry-run.`,
  ];
}

const labeledTest = ({ id, name, excerpt, draftedFrom }: Erasure["tests"][number]) => ({
  id,
  label: name,
  excerpt: draftedFrom === null ? excerpt : `drafted from ${draftedFrom}${excerpt && `: ${excerpt}`}`,
});
const labeled = (items: Place[]) => items.map(({ name, ...item }) => ({ ...item, label: name }));
