// Conversations of an agent: the list, the turns of one, and the place of a trace in its conversation.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { boundedId } from "../../reading/derived/identity.ts";
import type { Database } from "../../store/db.ts";
import {
  countTurnsBefore,
  describeConversations,
  findTurn,
  listConversations,
  listedTracesMax,
  listTurnsOfConversation,
  type TurnRow,
  type TurnsFrom,
  turnsCountedMax,
} from "../../store/trace-lists/conversations.ts";
import { findTraceSizes } from "../../store/traces/read.ts";
import type { TraceParts, TraceReader } from "../../trace-reader.ts";
import type { App, Deps } from "../frame/deps.ts";
import { found, listingOf, PageQuery, pageOf } from "../frame/page.ts";
import { routesOf } from "../frame/route.ts";
import { Id, queryNumber, searchText } from "../frame/schemas.ts";
import { conversationView, turnPartView } from "./conversation-view.ts";
import { ConversationPage, ConversationTurns, TurnOfTrace } from "./conversations-schemas.ts";
import { viewsOf } from "./list.ts";
import { earlierThan, laterThan, requireTurns, turnsCursor } from "./turn-cursor.ts";

/** Larger traces are listed with the texts of their columns: reading one takes more than a few milliseconds. */
const readBytesMax = 4 * 1024 * 1024;
/** A page ends with the turn that was read by then. */
const readMs = 850;

const Query = z.object({
  conversationId: searchText(10_000).min(1).describe("The whole id, as sent or as answers show it."),
  cursor: turnsCursor,
  traceId: Id.optional().describe("Begin with this turn of the conversation."),
  from: z.enum(["start", "end"]).default("start").describe("end: the last turns."),
  limit: queryNumber(z.number().int().min(1).max(50)).prefault(20),
});

export function registerConversations(app: App, { db, reader }: Deps & { reader: TraceReader }): void {
  const route = routesOf(app, "conversations");

  route("GET /api/agents/:id/conversations", {
    access: "tokens",
    summary: "List an agent's conversations, by the arrival of their last turns, newest first",
    query: PageQuery.extend({ kind: z.enum(["live", "test_run"]).optional() }),
    answer: ConversationPage,
    handler: async ({ id: agentId, query }) => {
      await reader.refresh(agentId);
      const { rows, reach } = await listConversations(db, agentId, query.kind, listingOf(query));
      const page = pageOf(rows, query, reach);
      const items = page.items.map(row => conversationView(agentId, row, listedTracesMax));
      return { ...page, items };
    },
  });

  route("GET /api/agents/:id/conversation", {
    access: "tokens",
    summary: "Get a conversation: its traces as turns, in the order in which they began",
    query: Query,
    answer: ConversationTurns,
    handler: async ({ id: agentId, query }) => {
      await reader.refresh(agentId);
      const conversation = { agentId, conversationId: boundedId(query.conversationId) };
      const at = await turnsFrom(db, conversation, query);
      const page = await readTurns(db, conversation, at, query.limit);
      const all = await describeConversations(db, agentId, [conversation.conversationId], turnsCountedMax);
      return {
        conversation: conversationView(agentId, found(all.get(conversation.conversationId)), turnsCountedMax),
        ...(await turnViews(db, reader, conversation, page)),
      };
    },
  });

  route("GET /api/traces/:id/turn", {
    access: "tokens",
    summary: "Get the place of a trace in its conversation",
    answer: TurnOfTrace,
    handler: async ({ id }) => {
      const turn = await findTurn(db, id);
      if (!turn) return { turn: null };
      const { agentId, conversationId, previousTraceId, nextTraceId } = turn;
      const [before, all] = await Promise.all([
        countTurnsBefore(db, turn, turn),
        describeConversations(db, agentId, [conversationId], turnsCountedMax),
      ]);
      const { traces } = conversationView(agentId, found(all.get(conversationId)), turnsCountedMax);
      return { turn: { conversationId, number: numberAfter(before), traces, previousTraceId, nextTraceId } };
    },
  });
}

type Conversation = { agentId: string; conversationId: string };
type Turns = { rows: TurnRow[]; isAfter: boolean; hasEarlier: boolean; hasLater: boolean };

/** Throws NOT_FOUND if the trace is not of the conversation. */
async function turnsFrom(
  db: Database,
  { agentId, conversationId }: Conversation,
  { cursor, traceId, from }: z.output<typeof Query>,
): Promise<TurnsFrom> {
  if (cursor !== undefined) return requireTurns(cursor);
  if (traceId === undefined) return from;
  const turn = found(await findTurn(db, traceId));
  if (turn.agentId !== agentId || turn.conversationId !== conversationId) throw new Refusal("NOT_FOUND");
  return { from: turn };
}

/** The turns of a page, and whether there are others on either side. */
async function readTurns(
  db: Database,
  conversation: Conversation,
  at: TurnsFrom,
  limit: number,
): Promise<Turns> {
  const all = await listTurnsOfConversation(db, conversation, at, limit + 1);
  const isAfter = at === "start" || (at !== "end" && !("before" in at));
  const rows = isAfter ? all.slice(0, limit) : all.slice(-limit);
  const hasMore = all.length > limit;
  const isThere = async (there: TurnsFrom) =>
    (await listTurnsOfConversation(db, conversation, there, 1)).length > 0;
  const [first, last] = [rows[0], rows.at(-1)];
  return {
    rows,
    isAfter,
    hasEarlier: isAfter
      ? first !== undefined && at !== "start" && (await isThere({ before: first }))
      : hasMore,
    hasLater: isAfter ? hasMore : last !== undefined && at !== "end" && (await isThere({ after: last })),
  };
}

/** With their texts, which are read from the spans. Late in the request, the page becomes shorter instead. */
async function turnViews(
  db: Database,
  reader: TraceParts,
  conversation: Conversation,
  { rows, isAfter, hasEarlier, hasLater }: Turns,
) {
  const begun = performance.now();
  const sizes = await findTraceSizes(
    db,
    rows.map(({ id }) => id),
  );
  const parts = new Map<string, Awaited<ReturnType<TraceParts["turn"]>>>();
  // From the side on which the reader continues, so that what is left out comes next.
  for (const { id } of isAfter ? rows : rows.toReversed()) {
    if (parts.size > 0 && performance.now() - begun > readMs) break;
    const isRead = (sizes.get(id) ?? 0) <= readBytesMax;
    parts.set(id, isRead ? await reader.turn({ traceId: id }).catch(tooLarge) : undefined);
  }
  const read = rows.filter(({ id }) => parts.has(id));
  const [first, last] = [read[0], read.at(-1)];
  const isCut = read.length < rows.length;
  const before = first ? await countTurnsBefore(db, conversation, first) : 0;
  const views = await viewsOf(db, read);
  return {
    items: views.map((view, at) => ({
      ...view,
      ...turnPartView(view, read[at]!, parts.get(view.id)),
      number: numberAfter(before + at),
    })),
    previousCursor: first && (hasEarlier || (isCut && !isAfter)) ? earlierThan(first) : null,
    nextCursor: last && (hasLater || (isCut && isAfter)) ? laterThan(last) : null,
  };
}

function tooLarge(error: unknown): undefined {
  if (error instanceof Refusal && error.code === "PAYLOAD_TOO_LARGE") return undefined;
  throw error;
}

const numberAfter = (before: number): number | null => (before < turnsCountedMax ? before + 1 : null);
