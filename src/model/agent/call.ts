// One call to an agent: the turn sent, and the reply or the error.

export type AgentMessage = { role: "user" | "assistant"; content: string };

export type AgentTurn = {
  input: string;
  /** The earlier messages, oldest first, without the input. */
  history: AgentMessage[];
  /** The same for all turns of a conversation. */
  conversationId: string;
  /** Sent as `x-request-id`. */
  requestId: string;
  /** Sent unchanged as the `traceparent` header. */
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
    | "no_reply"
    | "too_large"
    | "cancelled";
  /** One sentence, without secrets and without text of the reply. */
  reason: string;
};

/** A failed call has an error, and the other fields as far as they are known. */
export type AgentReply = {
  /** Null if no response arrived. */
  status: number | null;
  text: string | null;
  /** From the start to the end of the reply, or to the failure. */
  ms: number;
  startedAt: Date;
  contentType: string | null;
  /** The agent has accepted the turn; its reply is in the trace that it sends. */
  fromTrace?: true;
  error: AgentCallError | null;
};
