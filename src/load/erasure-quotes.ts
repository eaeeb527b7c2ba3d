// Deletes what quotes an erased text beside the traces, a part at a time, and log records that wait for their span.
import { zstdDecompressSync } from "node:zlib";
import type { Criterion } from "../model/erasure.ts";
import { parseNumbers } from "../model/json-exact.ts";
import { excerptInJson, JsonProbe, type TextSearch } from "../redaction/erasure/escaped-text.ts";
import { type BatchSearch, findInBatch } from "../redaction/erasure/find-in-batch.ts";
import { idAttributes } from "../redaction/erasure/id-attributes.ts";
import type { Database } from "../store/db.ts";
import {
  deleteNames,
  deleteQuoting,
  listQuoting,
  type QuotingTable,
  quotingTables,
} from "../store/erasures/quotes.ts";
import { listAgentsToScan, type ScannedAgent } from "../store/erasures/scan.ts";
import { deleteWaitingRows, listWaitingOfAgent } from "../store/erasures/waiting.ts";
import { readBatch, scan } from "../wire/batch.ts";

/** `cursor`: an agent, one of its tables, and the keys of the last row that was read, separated by spaces. */
export type QuotesRequest = { projectId: string; criterion: Criterion; cursor: string | null };

const rowsMax = 50;
const pagesMax = 10;

/** Does the next part; the cursor of the one after it, or null if there is none. What was made of an ID goes with its traces. */
export async function eraseQuotes(db: Database, request: QuotesRequest): Promise<string | null> {
  const { projectId, criterion, cursor } = request;
  if (criterion.kind !== "text") return null;
  const text = { values: criterion.values, wholeWords: false };
  const [from = "", at = "0", ...after] = cursor?.split(" ") ?? [];
  const agents = await listAgentsToScan(db, projectId);
  const agent = agents.find(({ id }) => id >= from);
  if (!agent) {
    await deleteNames(db, projectId, text.values);
    return null;
  }
  const isSame = agent.id === from;
  const place = isSame ? Number(at) : 0;
  const table = quotingTables[place];
  // Above this agent, and below the next.
  if (!table) return `${agent.id}~`;
  const next = await erasePages(db, table, agent.id, text, isSame && after.length > 0 ? after : null);
  return [agent.id, ...(next ? [place, ...next] : [place + 1])].join(" ");
}

/** The keys of the last row; null: all rows were read. */
async function erasePages(
  db: Database,
  table: QuotingTable,
  agentId: string,
  text: TextSearch,
  after: string[] | null,
): Promise<string[] | null> {
  const probe = new JsonProbe(text.values);
  let last = after;
  for (let page = 0; page < pagesMax; page++) {
    const rows = await listQuoting(db, table, agentId, last, rowsMax);
    const found = rows.filter(({ texts }) => texts.some(one => quotes(one, text, probe, table.isUsers)));
    if (found.length > 0) await deleteQuoting(db, table, agentId, found);
    if (rows.length < rowsMax) return null;
    last = rows.at(-1)!.keys;
  }
  return last;
}

function quotes(
  stored: string | Buffer | null,
  text: TextSearch,
  probe: JsonProbe,
  isUsers: boolean | undefined,
): boolean {
  if (stored === null) return false;
  const json = typeof stored === "string" ? stored : zstdDecompressSync(stored);
  if (typeof json !== "string" && !probe.mayHave(json)) return false;
  return excerptInJson(jsonOf(json.toString()), text, isUsers) !== null;
}

/** The value of a JSON text; of another text, itself. */
function jsonOf(text: string): unknown {
  try {
    return parseNumbers(text);
  } catch {
    return text;
  }
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
