// Cursors of the turns of a conversation: the side to continue on, and the time and trace of the turn at the end.
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { isUuid } from "../../store/accounts/ownership.ts";
import type { TurnPosition, TurnsFrom } from "../../store/trace-lists/conversations.ts";
import { uuidOf } from "../frame/page.ts";

const bytesInCursor = 25;

// The first bytes are a side, 0 or 1, and a time of at most 53 bits.
export const turnsCursor = z
  .string()
  .regex(/^A[AQ]A[A-Za-f][A-Za-z0-9_-]{29}[AQgw]$/, "Must be a cursor of an earlier page.")
  .optional()
  .describe("`nextCursor` or `previousCursor` of an earlier page.");

export const laterThan = (turn: TurnPosition): string => cursor(0, turn);
export const earlierThan = (turn: TurnPosition): string => cursor(1, turn);

function cursor(side: 0 | 1, { turnAt, id }: TurnPosition): string {
  const bytes = Buffer.alloc(bytesInCursor);
  bytes.writeUInt8(side, 0);
  bytes.writeBigInt64BE(BigInt(turnAt), 1);
  bytes.write(id.replaceAll("-", ""), 9, "hex");
  return bytes.toString("base64url");
}

/** The turns that the cursor asks for. Throws VALIDATION_ERROR. */
export function requireTurns(text: string): TurnsFrom {
  const bytes = Buffer.from(text, "base64url");
  const side = bytes[0];
  const turnAt = Number(bytes.readBigInt64BE(1));
  const id = uuidOf(bytes.subarray(9, bytesInCursor));
  if (side === undefined || side > 1 || !Number.isSafeInteger(turnAt) || !isUuid(id)) {
    const message = "Must be a cursor of an earlier page.";
    throw new Refusal("VALIDATION_ERROR", { issues: [{ path: "cursor", message }] });
  }
  return side === 0 ? { after: { turnAt, id } } : { before: { turnAt, id } };
}
