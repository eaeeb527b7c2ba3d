// Pages of conversations among an agent's traces, for `npm run bench -- lists`.
import type { Database } from "../src/store/db.ts";
import { newest } from "../src/store/listing.ts";
import {
  describeConversations,
  findTurn,
  listConversations,
  listTurnsOfConversation,
  turnsCountedMax,
} from "../src/store/traces/conversations.ts";
import { listTraces } from "../src/store/traces/list.ts";

type Page = (before: string) => Promise<{ rows: { id: string }[]; reach: string | null }>;

/** SQL of a trace's conversation, of the traces `n` of `$5`: five traces each, but for one that is a tenth of all. */
export const conversationSql = `case when n >= $5 * 0.7 and n < $5 * 0.8 then 'giant' else md5((n / 5)::text) end`;
/** And of its user, who has a ten-thousandth of the traces. */
export const userSql = "md5((n % 10000)::text || 'user')";

export async function conversationPages(
  db: Database,
  agentId: string,
  rowsMax: number,
): Promise<[name: string, page: Page][]> {
  const giant = { agentId, conversationId: "giant" };
  const { rows } = await db.pool.query<{ conversationId: string; userId: string }>(
    `select conversation_id as "conversationId", user_id as "userId" from traces where agent_id = $1
     order by id limit 1`,
    [agentId],
  );
  const first = rows[0]!;
  const [last] = await listTurnsOfConversation(db, giant, "end", 1);
  const turn = (await findTurn(db, last!.id))!;
  const traces =
    (filters: { conversationId?: string; userId?: string }): Page =>
    before =>
      listTraces(db, agentId, filters, { before, rowsMax });
  const all = async (rows: Promise<{ id: string }[]>) => ({ rows: await rows, reach: null });
  return [
    ["conversationId, five traces", traces({ conversationId: first.conversationId })],
    ["conversationId, a tenth of all", traces({ conversationId: "giant" })],
    ["conversationId, none", traces({ conversationId: "absent" })],
    ["userId, 1 in 10,000", traces({ userId: first.userId })],
    ["conversations", before => listConversations(db, agentId, undefined, { before, rowsMax })],
    [
      "conversations behind the tenth",
      before =>
        listConversations(db, agentId, undefined, { before: before === newest ? turn.id : before, rowsMax }),
    ],
    ["conversations of test runs", before => listConversations(db, agentId, "test_run", { before, rowsMax })],
    ["turns of a tenth, last", () => all(listTurnsOfConversation(db, giant, "end", 21))],
    ["a trace's place in a tenth", async () => ({ rows: [(await findTurn(db, turn.id))!], reach: null })],
    [
      "counting a tenth, up to 10,000",
      async () => {
        const found = await describeConversations(db, agentId, ["giant"], turnsCountedMax);
        return { rows: [{ id: found.get("giant")!.lastTraceId }], reach: null };
      },
    ],
  ];
}
