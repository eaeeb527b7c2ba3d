// A judge server for a test file, and clients that report which answer formats they learned.
import { after, beforeEach } from "node:test";
import pino from "pino";
import type { JudgeConnection, JudgeMode, RouteAsk, SemanticAsk } from "../../src/model/judge/call.ts";
import {
  callBounded,
  type JudgeClientOptions,
  openJudgeClient,
  routeRequest,
  semanticRequest,
} from "../../src/remote/judge/client.ts";
import type { Owners } from "../../src/threads/fair-queue.ts";
import { type JudgeServer, obliging, startJudgeServer } from "./judge-server.ts";

/** Reset to obliging before each test; closed after the last one. */
export async function serveJudge(): Promise<JudgeServer> {
  const server = await startJudgeServer();
  after(() => server.close());
  beforeEach(() => {
    server.requests.length = 0;
    server.script = obliging();
  });
  return server;
}

/** A client with its rate limits. */
export function openClient(connection: JudgeConnection, options: Partial<JudgeClientOptions> = {}) {
  const client = openJudgeClient(connection, { log: pino({ level: "silent" }), ...options });
  return {
    route: (ask: RouteAsk, signal?: AbortSignal, owners?: Owners) =>
      callBounded(client, routeRequest(ask), { signal, ...(owners && { owners }) }),
    judge: (ask: SemanticAsk, signal?: AbortSignal, vote?: number) =>
      callBounded(client, semanticRequest(ask, vote), { signal }),
    enter: (ask: RouteAsk, owners?: Owners) => client.enter(routeRequest(ask), owners && { owners }),
    get queued() {
      return client.queued("");
    },
  };
}

/** `learned`: the formats in the order in which they were found to work. */
export function openTestClient(
  server: JudgeServer,
  connection: Partial<JudgeConnection> = {},
  mode: JudgeMode | null = null,
) {
  const learned: JudgeMode[] = [];
  const client = openClient(server.connection(connection), { mode, onMode: mode => learned.push(mode) });
  return { client, learned };
}
