// Draft of an agent connection: holds the fields of every type, so that switching between types loses nothing.
import type { AgentType } from "../../src/model/agent/agent.ts";
import type { ConnectionView, ReplyLocation } from "../../src/model/agent/connection.ts";

export type DraftHeader = {
  /** React key of the row. */
  key: number;
  name: string;
  value: string;
  secret: boolean;
  /** Whether the server has a secret for this header; if so, an empty value keeps it. */
  stored: "none" | "kept" | "unreadable";
};

export type Draft = {
  method: "POST" | "PUT" | "PATCH";
  url: string;
  bodyTemplate: string;
  replyKind: ReplyLocation["kind"];
  pointer: string;
  kind: "chat" | "webhook";
  product: "flowise" | "langflow";
  baseUrl: string;
  flowId: string;
  sendHistory: boolean;
  headers: DraftHeader[];
  /** Numbers as typed. */
  waitSeconds: string;
  concurrency: string;
};

const ownTemplate = '{\n  "message": "{{input}}",\n  "conversationId": "{{conversation_id}}"\n}';
const webhookTemplate = '{\n  "chatInput": "{{input}}",\n  "sessionId": "{{conversation_id}}"\n}';

/** OpenAI's chat completions format, which many servers support. */
export const chatCompletions: Partial<Draft> = {
  bodyTemplate: '{\n  "model": "model-name",\n  "messages": "{{messages}}"\n}',
  replyKind: "json",
  pointer: "/choices/0/message/content",
};

let keys = 0;

export function newHeader(): DraftHeader {
  return { key: ++keys, name: "", value: "", secret: true, stored: "none" };
}

/** The draft of the stored connection, or a blank one. */
export function draftOf(type: AgentType, stored: ConnectionView | null): Draft {
  const blank: Draft = {
    method: "POST",
    url: "",
    bodyTemplate: type === "workflow" ? webhookTemplate : ownTemplate,
    replyKind: type === "workflow" ? "auto" : "json",
    pointer: type === "workflow" ? "/output" : "/reply",
    kind: "chat",
    product: "flowise",
    baseUrl: "",
    flowId: "",
    sendHistory: false,
    headers: [],
    waitSeconds: "15",
    concurrency: "2",
  };
  if (stored === null) return blank;
  const { headers, waitMs, concurrency, type: _, ...rest } = stored;
  const { reply, ...fields } = { reply: undefined, ...rest };
  return {
    ...blank,
    ...fields,
    ...(reply && { replyKind: reply.kind }),
    ...(reply?.kind === "json" && { pointer: reply.pointer }),
    headers: headers.map(header => ({
      key: ++keys,
      name: header.name,
      value: header.value ?? "",
      secret: header.secret ?? false,
      stored: header.secret ? (header.set ? "kept" : "unreadable") : "none",
    })),
    waitSeconds: String(waitMs / 1000),
    concurrency: String(concurrency),
  };
}

/** The request body for the API. */
export function documentOf(type: AgentType, draft: Draft): object {
  const { method, url, bodyTemplate, kind, product, baseUrl, flowId, sendHistory } = draft;
  const common = {
    headers: draft.headers.map(({ name, value, secret, stored }) =>
      stored !== "none" && value === "" ? { name, secret } : { name, value, secret },
    ),
    waitMs: Math.round(Number(draft.waitSeconds) * 1000),
    concurrency: Number(draft.concurrency),
  };
  const reply = {
    kind: draft.replyKind,
    ...(draft.replyKind === "json" && { pointer: draft.pointer }),
  };
  if (type === "http_api") return { type, method, url, bodyTemplate, reply, ...common };
  if (type === "workflow") {
    return kind === "chat"
      ? { type, kind, url, ...common }
      : { type, kind, url, bodyTemplate, reply, ...common };
  }
  return {
    type,
    product,
    baseUrl,
    flowId,
    sendHistory: product === "flowise" && sendHistory,
    ...common,
  };
}
