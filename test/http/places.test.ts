// Places for concurrent work: an account or key that takes all it can get leaves places to the others.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, suite, test } from "node:test";
import { streamsMax } from "../../src/http/events.ts";
import type { App, Deps } from "../../src/http/frame/deps.ts";
import { requestsMax } from "../../src/http/frame/session.ts";
import { requestsMax as receivedMax } from "../../src/http/ingestion/public-endpoint.ts";
import { registerTraceParts } from "../../src/http/traces/parts.ts";
import type { WholePart } from "../../src/trace-reader/parts.ts";
import type { TraceParts } from "../../src/trace-reader.ts";
import { type Owner, startTestApp, type TestApp } from "../support/app.ts";
import { canonicalBody } from "../support/bodies.ts";
import { eventually } from "../support/eventually.ts";
import { makeAgentRow } from "../support/rows.ts";
import { json, send } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { storeTrace } from "../support/stored-traces.ts";

/** Work that ends when the test says so, and whose it is. */
class Gate {
  begun: string[] = [];
  readonly #open = Promise.withResolvers<void>();

  async pass(who: string): Promise<void> {
    this.begun.push(who);
    await this.#open.promise;
  }

  open(): void {
    this.#open.resolve();
  }
}

suite("requests of an account", () => {
  let app: TestApp;
  let gate = new Gate();
  before(async () => {
    app = await startTestApp({
      extend(app) {
        for (const waits of [false, true]) {
          app.get(`/api/slow/${waits}`, { config: { access: "session", waits } }, async ({ account }) => {
            await gate.pass(account!.id);
            return {};
          });
        }
      },
    });
  });
  after(() => app.close());

  test("wait for each other once they take half of the places, and others get in meanwhile", async () => {
    gate = new Gate();
    const [greedy, other] = [await app.signUp(), await app.signUp()];
    const many = Array.from({ length: requestsMax }, () => greedy.client.get("/api/slow/false"));
    await eventually(async () => assert.equal(gate.begun.length, requestsMax / 2));
    const one = other.client.get("/api/slow/false");
    await eventually(async () => assert.equal(gate.begun.at(-1), other.accountId));
    assert.equal(gate.begun.length, requestsMax / 2 + 1);
    gate.open();
    const statuses = (await Promise.all([...many, one])).map(({ status }) => status);
    assert.deepEqual(new Set(statuses), new Set([200]));
  });

  test("that wait for a judge or an agent take no place", async () => {
    gate = new Gate();
    const owner = await app.signUp();
    const waiting = Array.from({ length: requestsMax }, () => owner.client.get("/api/slow/true"));
    await eventually(async () => assert.equal(gate.begun.length, requestsMax));
    await owner.client.get("/api/projects").expect(200);
    gate.open();
    await Promise.all(waiting);
  });
});

suite("ten reads of a whole large trace at once", () => {
  let app: TestApp;
  const gate = new Gate();
  const reader: TraceParts = {
    async whole({ traceId }): Promise<WholePart> {
      await gate.pass(traceId);
      return { revision: 1, notices: [], json: Buffer.from('{"spans":[]}') };
    },
    span: async () => Buffer.from("{}"),
    outline: async () => undefined,
    conversation: async () => undefined,
    preview: async () => undefined,
    turn: async () => undefined,
    columns: async () => undefined,
    question: async () => undefined,
    raw: async () => undefined,
  };
  before(async () => {
    app = await startTestApp({
      extend: (app: App, deps: Deps) => registerTraceParts(app, { ...deps, reader }),
    });
  });
  after(() => app.close());

  test("take one place; another account and every other request get in", async () => {
    const traceOf = async (owner: Owner): Promise<string> => {
      const traceId = await storeTrace(app.db, await makeAgentRow(app.db, owner));
      await app.db.pool.query("update traces set batch_bytes = 30000000 where id = $1", [traceId]);
      return traceId;
    };
    const [greedy, other] = [await app.signUp(), await app.signUp()];
    const [own, others] = [await traceOf(greedy), await traceOf(other)];
    // The reader's answers have another shape than a trace, so the client would refuse them.
    const read = ({ client }: Owner, path: string) =>
      fetch(`${app.url}/api/traces/${path}`, { headers: { cookie: client.cookie } });
    const reads = Array.from({ length: 10 }, () => read(greedy, own));
    await eventually(async () => assert.deepEqual(gate.begun, [own]));
    reads.push(read(other, others));
    await eventually(async () => assert.deepEqual(gate.begun, [own, others]));
    for (const { client } of [greedy, other]) await client.get("/api/projects").expect(200);
    assert.equal((await read(greedy, `${own}/spans/a`)).status, 200);
    assert.deepEqual(gate.begun, [own, others]);
    gate.open();
    for (const answer of await Promise.all(reads))
      assert.deepEqual([answer.status, /"spans":\[\]/.test(await answer.text())], [200, true]);
  });
});

suite("in the service", () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ config: { roles: ["http"] } });
  });
  after(() => service.stop());

  /** A response whose body is still to come, or a request whose body is. */
  function begin({ client }: Pick<Owner, "client">, path: string, headers = {}) {
    const method = path === "/api/events" ? "GET" : "POST";
    const outgoing = request(service.url + path, {
      method,
      agent: false,
      headers: { cookie: client.cookie, ...headers },
    });
    outgoing.on("error", () => {}); // the test's own doing
    if (method === "GET") outgoing.end();
    else outgoing.flushHeaders();
    return outgoing;
  }

  test("an account with half of the event streams gets 429 with Retry-After, and others get a stream", async () => {
    const [greedy, other] = [await service.signUp(), await service.signUp()];
    const open = async (owner: Owner) => {
      const outgoing = begin(owner, "/api/events");
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      response.on("error", () => {}).resume();
      return { outgoing, response };
    };
    const streams = await Promise.all(Array.from({ length: streamsMax / 2 }, () => open(greedy)));
    const { body, headers } = await greedy.client.get("/api/events").expect(429);
    assert.equal(body.code, "RATE_LIMITED");
    assert.match(headers.get("retry-after")!, /^[23]$/);
    streams.push(await open(other));
    assert.deepEqual(new Set(streams.map(({ response }) => response.statusCode)), new Set([200]));
    for (const { outgoing } of streams) outgoing.destroy();
    await eventually(async () => {
      const again = await open(greedy);
      again.outgoing.destroy();
      assert.equal(again.response.statusCode, 200);
    });
  });

  test("a key with half of the requests in hand waits, and other keys of the account get in", async () => {
    const { body } = await service.client
      .post(`/api/projects/${service.projectId}/keys`, { name: "other", access: "full" })
      .expect(201);
    const sent = JSON.stringify(canonicalBody(service.agent.id));
    // A request that has its place is told to continue.
    const headers = {
      ...{ "x-api-key": service.key, "content-type": json, "content-length": sent.length },
      expect: "100-continue",
    };
    const stalled = Array.from({ length: receivedMax / 2 }, () => begin(service, "/public/traces", headers));
    await Promise.all(stalled.map(outgoing => once(outgoing, "continue")));
    for (const outgoing of stalled) outgoing.write(sent.slice(0, 10));
    let hasPlace = false;
    const next = begin(service, "/public/traces", headers);
    next.once("continue", () => {
      hasPlace = true;
    });
    const other = await send(service, { key: body.key, body: canonicalBody(service.agent.id) });
    assert.deepEqual([other.status, hasPlace], [201, false]);
    next.destroy();
    const answers = stalled.map(async outgoing => {
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    });
    for (const outgoing of stalled) outgoing.end(sent.slice(10));
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([201]));
  });
});
