// A judge's server for a file of tests, and lines to it that tell which modes they learned.
import { after, beforeEach } from "node:test";
import pino from "pino";
import type { JudgeConnection, JudgeMode } from "../../src/model/judge/call.ts";
import { openLine } from "../../src/remote/judge/client.ts";
import { type JudgeServer, obliging, startJudgeServer } from "./judge-server.ts";

/** Willing and unasked when each test begins, closed after the last. */
export async function serveJudge(): Promise<JudgeServer> {
  const server = await startJudgeServer();
  after(() => server.close());
  beforeEach(() => {
    server.requests.length = 0;
    server.script = obliging();
  });
  return server;
}

/** `learned`: the modes in the order in which they were found to work. */
export function openTestLine(
  server: JudgeServer,
  connection: Partial<JudgeConnection> = {},
  mode: JudgeMode | null = null,
) {
  const learned: JudgeMode[] = [];
  const log = pino({ level: "silent" });
  const line = openLine(server.connection(connection), { log, mode, onMode: mode => learned.push(mode) });
  return { line, learned };
}
