// Takes the value of an erasure out of what is left: results of other traces, judge calls, launches, waiting log records.
import { zstdDecompressSync } from "node:zlib";
import type { Criterion } from "../model/erasure.ts";
import { parseNumbers } from "../model/json-exact.ts";
import {
  eraseIn,
  eraseInJson,
  excerptInJson,
  JsonProbe,
  type TextSearch,
} from "../redaction/erasure/escaped-text.ts";
import { type BatchSearch, findInBatch } from "../redaction/erasure/find-in-batch.ts";
import { idAttributes } from "../redaction/erasure/id-attributes.ts";
import type { Database } from "../store/db.ts";
import {
  type CopyPlace,
  type CopyRow,
  deleteAnswers,
  deleteRunsOfInput,
  deleteWaitingRows,
  forgetNames,
  listAnswers,
  listCopies,
  listInputsOfLaunches,
  listWaitingOfAgent,
  placesOfAgents,
  placesOfLaunches,
  placesOfTraces,
  readCopy,
  rewriteCopy,
} from "../store/erasures/copies.ts";
import {
  listAgentsToScan,
  listLaunchesToScan,
  listTracesToScan,
  type ScannedAgent,
} from "../store/erasures/scan.ts";
import { newest, oldest } from "../store/listing.ts";
import { readBatch, scan } from "../wire/batch.ts";
import { textSearchOf } from "./erasure-holders.ts";

/** `cursor`: an agent, a stage and where its next part begins, separated by spaces. */
export type CopiesRequest = {
  projectId: string;
  criterion: Criterion;
  /** Of an ID: whether copies of texts are rewritten, too. */
  everywhere: boolean;
  cursor: string | null;
};

const stages = ["launches", "traces", "agent", "answers"] as const;
const tracesMax = 200;
const launchesMax = 10;
const rowsMax = 50;
const answersMax = 500;

/** Does the next part; the cursor of the one after it, or null if there is none. */
export async function eraseCopies(db: Database, request: CopiesRequest): Promise<string | null> {
  const { projectId, criterion, everywhere, cursor } = request;
  const text = everywhere || criterion.kind === "text" ? textSearchOf(criterion) : null;
  if (!text) return null;
  const agents = await listAgentsToScan(db, projectId);
  const [from = "", at = "0", after = ""] = cursor?.split(" ") ?? [];
  if (from === "project") {
    if (!text.wholeWords) await forgetNames(db, projectId, text.values);
    return null;
  }
  const agent = agents.find(({ id }) => id >= from);
  if (!agent) return "project 0 ";
  const isSame = agent.id === from;
  const stage = isSame ? Number(at) : 0;
  const next = await eraseOfAgent(db, agent.id, stages[stage]!, text, isSame ? after : "");
  if (next !== null) return `${agent.id} ${stage} ${next}`;
  if (stage + 1 < stages.length) return `${agent.id} ${stage + 1} `;
  const following = agents[agents.indexOf(agent) + 1];
  return following ? `${following.id} 0 ` : "project 0 ";
}

/** Where the next part of the stage begins; null: the stage is done. */
async function eraseOfAgent(
  db: Database,
  agentId: string,
  stage: (typeof stages)[number],
  text: TextSearch,
  after: string,
): Promise<string | null> {
  if (stage === "launches") {
    const ids = await listLaunchesToScan(db, agentId, after || oldest, launchesMax);
    for (const row of await listInputsOfLaunches(db, ids)) {
      if (excerptInJson(JSON.parse(row.input), text, true) !== null) await deleteRunsOfInput(db, row);
    }
    for (const place of placesOfLaunches) await eraseAll(db, place, agentId, ids, text);
    return ids.length === launchesMax ? ids.at(-1)! : null;
  }
  if (stage === "traces") {
    const range = { agentId, after: after || oldest, through: newest, since: null };
    const ids = (await listTracesToScan(db, range, tracesMax)).map(({ id }) => id);
    for (const place of placesOfTraces) await eraseAll(db, place, agentId, ids, text);
    return ids.length === tracesMax ? ids.at(-1)! : null;
  }
  if (stage === "answers") return eraseAnswers(db, agentId, text, after);
  const [at = "0", key] = after.split(",");
  const place = placesOfAgents[Number(at)];
  if (!place) return null;
  const last = await erasePage(db, place, { agentId, owners: [agentId] }, text, key ? [key] : null);
  return last ? `${at},${last[0]}` : `${Number(at) + 1}`;
}

/** All pages of the rows of these owners. */
async function eraseAll(
  db: Database,
  place: CopyPlace,
  agentId: string,
  owners: string[],
  text: TextSearch,
): Promise<void> {
  if (owners.length === 0) return;
  let after: string[] | null = null;
  do after = await erasePage(db, place, { agentId, owners }, text, after);
  while (after);
}

/** The keys of the last row; null if there is no further page. */
async function erasePage(
  db: Database,
  place: CopyPlace,
  { agentId, owners }: { agentId: string; owners: string[] },
  text: TextSearch,
  after: string[] | null,
): Promise<string[] | null> {
  const rows = await listCopies(db, place, agentId, owners, after, rowsMax);
  const probe = new JsonProbe(text.values);
  for (const row of rows) {
    const changed = changesOf(place, row, text, probe);
    // A row that changed meanwhile is read again with its page.
    if (changed && !(await rewriteCopy(db, place, agentId, row, changed))) return after ?? firstKeys(place);
  }
  return rows.length === rowsMax ? rows.at(-1)!.keys : null;
}

const firstKeys = ({ keys }: CopyPlace) => keys.map(() => oldest);

function changesOf(
  place: CopyPlace,
  row: CopyRow,
  text: TextSearch,
  probe: JsonProbe,
): Record<string, unknown> | null {
  const changed: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(place.columns)) {
    const value = readCopy(kind, row.stored[name] ?? null);
    if (typeof value === "string") {
      const erased = eraseIn(value, text);
      if (erased !== value) changed[name] = erased;
    } else if (value && probe.mayHave(value)) {
      const json = parseNumbers(value.toString());
      if (excerptInJson(json, text) !== null) changed[name] = eraseInJson(json, text);
    }
  }
  return Object.keys(changed).length > 0 ? changed : null;
}

/** Deletes log records whose span has not arrived: by what they say, or by the name of their trace. */
export async function eraseWaiting(db: Database, projectId: string, criterion: Criterion): Promise<void> {
  for (const agent of await listAgentsToScan(db, projectId)) await eraseWaitingOf(db, agent, criterion);
}

async function eraseWaitingOf(db: Database, agent: ScannedAgent, { kind, values }: Criterion): Promise<void> {
  if (kind === "traceIds") return;
  const waiting = await listWaitingOfAgent(db, agent.id);
  if (waiting.length === 0) return;
  if (kind === "externalId") {
    const named = waiting.filter(({ otlpTraceId }) => values.includes(otlpTraceId));
    if (named.length > 0) await deleteWaitingRows(db, agent.id, named);
    return;
  }
  const search: BatchSearch =
    kind === "text"
      ? { text: { values, wholeWords: false } }
      : { id: { values, attributes: idAttributes(kind, agent.conventionRules) } };
  const probe = new JsonProbe(values);
  const found = waiting.filter(
    ({ records }) =>
      probe.mayHave(zstdDecompressSync(records)) && findInBatch(readBatch(scan(records)), search) !== null,
  );
  if (found.length > 0) await deleteWaitingRows(db, agent.id, found);
}

async function eraseAnswers(
  db: Database,
  agentId: string,
  text: TextSearch,
  after: string,
): Promise<string | null> {
  const answers = await listAnswers(db, agentId, after, answersMax);
  const found = answers.filter(({ answer }) => excerptInJson(jsonOf(answer), text, true) !== null);
  if (found.length > 0)
    await deleteAnswers(
      db,
      agentId,
      found.map(({ key }) => key),
    );
  return answers.length === answersMax ? answers.at(-1)!.key : null;
}

function jsonOf(text: string): unknown {
  try {
    return parseNumbers(text);
  } catch {
    return text;
  }
}
