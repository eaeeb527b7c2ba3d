// What Onlooker itself received in a turn of a manual run, and how evidence names it.
import type { RunTurn } from "./launch.ts";

/** `text` is the whole reply, unlike that of a stored turn. */
export type Received = Pick<
  RunTurn,
  "turn" | "input" | "status" | "ms" | "text" | "error" | "replyFrom" | "redactions"
>;

/** Attributes of evidence that no span has. */
export const receivedAttributes = {
  status: "svc.received.http_status",
  reply: "svc.received.reply",
  time: "svc.received.time",
  input: "svc.sent.input",
} as const;
