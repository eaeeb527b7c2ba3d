// A real HTTP server that plays an agent, and a simple way to call it, for tests of the launcher.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentReply, AgentTurn } from "../../src/model/agent/call.ts";

/** What a turn sent to the agent: its body, and the ids in its headers. */
export type Asked = Pick<AgentTurn, "input" | "history" | "conversationId"> & {
  requestId: string;
  w3cTraceId: string;
};

export type AgentServer = {
  url: string;
  /** Every turn received so far. */
  asked: Asked[];
  /** The maximum number of simultaneous turns. */
  readonly crowd: number;
  /** Calls this server as a launcher does, whatever the agent. */
  call: (agentId: string, turn: AgentTurn, signal: AbortSignal) => Promise<AgentReply>;
  close(): Promise<void>;
};

/** `answer` ends the response, or leaves it open. */
export async function startAgent(
  answer: (asked: Asked, response: ServerResponse) => void | Promise<void>,
): Promise<AgentServer> {
  const asked: Asked[] = [];
  let under = 0;
  let crowd = 0;
  const server = createServer(async (request, response) => {
    crowd = Math.max(crowd, ++under);
    response.once("close", () => under--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one: Asked = {
      ...JSON.parse(Buffer.concat(chunks).toString()),
      requestId: request.headers["x-request-id"],
      w3cTraceId: String(request.headers["traceparent"]).split("-")[1],
    };
    asked.push(one);
    await answer(one, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    asked,
    get crowd() {
      return crowd;
    },
    call: (_agentId, turn, signal) => call(url, turn, signal),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function call(url: string, turn: AgentTurn, signal: AbortSignal): Promise<AgentReply> {
  const startedAt = new Date();
  const begun = performance.now();
  const reply = (rest: Partial<AgentReply>): AgentReply => ({
    status: null,
    text: null,
    ms: performance.now() - begun,
    startedAt,
    contentType: null,
    error: null,
    ...rest,
  });
  const { input, history, conversationId, requestId, traceparent } = turn;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "x-request-id": requestId, traceparent, connection: "close" },
      body: JSON.stringify({ input, history, conversationId }),
      signal,
    });
    const text = await response.text();
    const { status } = response;
    if (status < 400) return reply({ status, text });
    return reply({ status, text, error: { code: "http_status", reason: `The agent answered ${status}.` } });
  } catch {
    const code = signal.aborted ? "cancelled" : "unreachable";
    return reply({ error: { code, reason: "The agent was not reached." } });
  }
}
