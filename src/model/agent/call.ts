// One call of an agent: what a turn sends, and what came of it.

export type AgentMessage = { role: "user" | "assistant"; content: string };

export type AgentTurn = {
  input: string;
  /** What was said before, oldest first; the input is not in it. */
  history: AgentMessage[];
  /** The same for all turns of a conversation. */
  conversationId: string;
  /** Sent as `x-request-id`. */
  requestId: string;
  /** Sent as it is. */
  traceparent: string;
};

export type AgentCallError = {
  code:
    | "timeout"
    | "refused_target"
    | "unreachable"
    | "broken_off"
    | "http_status"
    | "bad_reply"
    | "too_large"
    | "cancelled";
  /** A sentence; never a secret, and nothing of the reply. */
  reason: string;
};

/** A call that failed has an error, and whatever else is known of it. */
export type AgentReply = {
  /** Null: no reply began. */
  status: number | null;
  text: string | null;
  /** From the start to the end of the reply, or to the failure. */
  ms: number;
  startedAt: Date;
  contentType: string | null;
  error: AgentCallError | null;
};
