// Sends one turn to an agent over HTTP. Errors become part of the reply (model/agent/call.ts).

import { BodyTooLarge, bodyCharsMax, fillTemplate } from "../../model/agent/body-template.ts";
import type { AgentCallError, AgentReply, AgentTurn } from "../../model/agent/call.ts";
import type { AgentConnection } from "../../model/agent/connection.ts";
import { connectionFault } from "../connection-fault.ts";
import { type Outbound, OutboundRefused, OutboundTooLarge, outboundLimits } from "../outbound.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { decoded, findText, readText, type TextLocation } from "./reply.ts";

type Call = { url: string; method: string; body: string; place: TextLocation };

/** Never rejects. `signal` cancels the call. */
export async function callAgent(
  outbound: Pick<Outbound, "fetch">,
  connection: AgentConnection,
  turn: AgentTurn,
  signal?: AbortSignal,
): Promise<AgentReply> {
  const startedAt = new Date();
  const started = performance.now();
  const reply: Omit<AgentReply, "ms"> = {
    status: null,
    text: null,
    startedAt,
    contentType: null,
    error: null,
  };
  const host = hostOf(connection);
  try {
    const { url, method, body, place } = callOf(connection, turn);
    if (body.length > bodyCharsMax) throw new BodyTooLarge();
    const headers = headersOf(connection, turn);
    const response = await outbound.fetch(url, { method, headers, body, signal: signal ?? null });
    reply.status = response.status;
    reply.contentType = response.headers.get("content-type");
    if (response.ok && place.kind === "trace") {
      reply.fromTrace = true;
      await response.body?.cancel();
    } else if (response.ok) {
      const found = await readText(response, place);
      reply.text = found.text;
      if (found.text === null) reply.error = { code: "bad_reply", reason: `The reply ${found.why}.` };
    } else {
      reply.error = { code: "http_status", reason: statusReason(host, response) };
      const content = await decoded(response);
      // Error responses seldom have the shape of a reply.
      reply.text = findText(content, place, reply.contentType).text ?? (content || null);
    }
  } catch (error) {
    reply.error = errorOf(error, host, reply.status, signal);
  }
  const { text, contentType } = reply;
  return {
    ...reply,
    text: text && withoutSecrets(text, connection),
    contentType: contentType && withoutSecrets(contentType, connection),
    ms: Math.round(performance.now() - started),
  };
}

// Shorter secrets could be ordinary words of a reply.
const secretCharsMin = 8;

/** Replies are shown, stored and judged, so secrets that a server echoes are redacted. */
function withoutSecrets(text: string, { headers }: AgentConnection): string {
  const secrets = headers.flatMap(({ value, secret }) =>
    secret ? [value.trim(), value.trim().replace(/^(?:basic|bearer|token|api-?key)\s+/i, "")] : [],
  );
  return redactSecrets(
    secrets.filter(({ length }) => length >= secretCharsMin),
    text,
  );
}

function statusReason(host: string, { status, headers }: Response): string {
  const isRedirect = [301, 302, 303].includes(status) && headers.has("location");
  if (!isRedirect) return `${host} answered with status ${status}.`;
  return `${host} answered with status ${status}, a redirect that would drop the message. Use the URL that it leads to.`;
}

function hostOf(connection: AgentConnection): string {
  return new URL("url" in connection ? connection.url : connection.baseUrl).host;
}

function headersOf({ headers }: AgentConnection, turn: AgentTurn): Headers {
  const all = new Headers({
    accept: "application/json, text/event-stream, text/plain;q=0.9, */*;q=0.8",
    "content-type": "application/json",
    "user-agent": "Onlooker",
  });
  for (const { name, value } of headers) all.set(name, value);
  all.set("x-request-id", turn.requestId);
  all.set("traceparent", turn.traceparent);
  return all;
}

function callOf(connection: AgentConnection, turn: AgentTurn): Call {
  if (connection.type === "http_api") {
    const { url, method, bodyTemplate, reply } = connection;
    return { url, method, body: fillTemplate(bodyTemplate, turn), place: reply };
  }
  if (connection.type === "flow_builder") return flowCallOf(connection, turn);
  const { url } = connection;
  if (connection.kind === "webhook") {
    return {
      url,
      method: "POST",
      body: fillTemplate(connection.bodyTemplate, turn),
      place: connection.reply,
    };
  }
  const body = { action: "sendMessage", sessionId: turn.conversationId, chatInput: turn.input };
  return { url, method: "POST", body: JSON.stringify(body), place: { kind: "auto" } };
}

function flowCallOf(
  { product, baseUrl, flowId, sendHistory }: Extract<AgentConnection, { type: "flow_builder" }>,
  turn: AgentTurn,
): Call {
  const base = `${baseUrl.replace(/(?<!\/)\/+$/, "")}/api/v1`;
  const place = { kind: "product", product } as const;
  if (product === "flowise") {
    const history = turn.history.map(({ role, content }) => ({
      role: role === "user" ? "userMessage" : "apiMessage",
      content,
    }));
    const body = {
      question: turn.input,
      overrideConfig: { sessionId: turn.conversationId },
      ...(sendHistory && { history }),
    };
    return { url: `${base}/prediction/${flowId}`, method: "POST", body: JSON.stringify(body), place };
  }
  const body = {
    input_value: turn.input,
    input_type: "chat",
    output_type: "chat",
    session_id: turn.conversationId,
  };
  return { url: `${base}/run/${flowId}?stream=false`, method: "POST", body: JSON.stringify(body), place };
}

function errorOf(
  error: unknown,
  host: string,
  status: number | null,
  signal: AbortSignal | undefined,
): AgentCallError {
  if (signal?.aborted) return { code: "cancelled", reason: "The call was cancelled." };
  if (error instanceof OutboundRefused) return { code: "refused_target", reason: error.message };
  if (error instanceof BodyTooLarge) {
    const reason = `The request would be longer than ${bodyCharsMax} characters, including the conversation so far.`;
    return { code: "too_large", reason };
  }
  if (error instanceof OutboundTooLarge) {
    return { code: "too_large", reason: `The reply is larger than ${outboundLimits.replyBytesMax} bytes.` };
  }
  if ((error as Error).name === "TimeoutError") {
    const reason = `${host} did not answer within ${outboundLimits.timeoutMs / 1000} s.`;
    return { code: "timeout", reason };
  }
  const { reached, why } = connectionFault(error);
  if (reached || status !== null) {
    return { code: "broken_off", reason: `${host} ${reached ? why : "sent an invalid response"}.` };
  }
  return { code: "unreachable", reason: `${host} could not be reached: ${why}.` };
}
