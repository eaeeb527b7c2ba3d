// A whole service for the tests of one file, with an account, a project, an agent and a key in it.
import { after, before } from "node:test";
import type { Config } from "../../src/config.ts";
import type { Client } from "./client.ts";
import { type Answer, type Sent, send, traceIdOf } from "./send.ts";
import { startTestService, type TestService } from "./service.ts";

export type World = TestService & {
  agentId: string;
  read: Client["read"];
  /** A request to the ingestion endpoint, with the key. */
  send(sent: Sent): Promise<Answer>;
  /** Stores a canonical body. Returns the trace's id. */
  store(body: unknown): Promise<string>;
};

/**
 * For the top of a file: the service starts before its first test and stops after the last, so the world is filled once a
 * test, or a later `before`, begins.
 */
export function world(config: Partial<Config> = {}): World {
  const made = {} as World;
  before(async () => {
    const service = await startTestService({ config });
    const sendTo = (sent: Sent) => send(service, sent);
    Object.assign(made, service, {
      ...{ agentId: service.agent.id, read: service.client.read, send: sendTo },
      store: async (body: unknown) => traceIdOf(await sendTo({ body })),
    });
  });
  after(() => made.stop?.());
  return made;
}
