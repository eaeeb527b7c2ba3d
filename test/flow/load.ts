// Load from simple clients that retry until they get a 2xx, and know which traces were acknowledged.
import assert from "node:assert/strict";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { keepAliveClient } from "./keep-alive.ts";

export type Load = {
  /** The identities that were acknowledged, each with its text. */
  acknowledged: Map<string, string>;
  /** How often each status was returned; `broken` counts connections that ended without a response. */
  statuses: Map<number | "broken", number>;
  /** Starts no more posts; resolves once every client has ended. */
  stop(): Promise<void>;
};

type Target = { url: string; agentId: string; apiKey: string };

/** Each client posts one trace after the other under its own identities; with `retries`, until it is accepted. */
export function startLoad({ url, agentId, apiKey }: Target, { clients = 4, retries = true } = {}): Load {
  let stopping = false;
  const acknowledged: Load["acknowledged"] = new Map();
  const statuses: Load["statuses"] = new Map();
  const seen = (status: number | "broken") => statuses.set(status, (statuses.get(status) ?? 0) + 1);

  async function run(name: number): Promise<void> {
    const client = keepAliveClient(url, apiKey);
    for (let count = 0; !stopping; count++) {
      const id = `${name}-${count}`;
      const text = `Reply ${id}`;
      const span = canonicalSpan({ attributes: { "gen_ai.response.text": text } });
      const body = Buffer.from(JSON.stringify(canonicalBody(agentId, { spans: [span] })));
      for (let taken = false; !taken && !(stopping && !retries); ) {
        const status = await client.post(body, { "x-request-id": id }).catch(() => "broken" as const);
        seen(status);
        taken = status === 200 || status === 201;
        if (taken) acknowledged.set(id, text);
        if (status === "broken" && !retries) return;
      }
    }
    client.close();
  }

  const running = Promise.all(Array.from({ length: clients }, (_, name) => run(name)));
  return {
    acknowledged,
    statuses,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

/** Asserts that all statuses are among these. */
export function assertOnly(load: Load, allowed: (number | "broken")[]): void {
  assert.deepEqual(
    [...load.statuses.keys()].filter(status => !allowed.includes(status)),
    [],
  );
}
