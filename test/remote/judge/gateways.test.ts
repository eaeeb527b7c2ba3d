// What a connection to a gateway adds to every call: a query, and headers of its own.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type JudgeProvider, judgeProviders } from "../../../src/model/judge/call.ts";
import { openTestClient, serveJudge } from "../../support/judge-clients.ts";

const server = await serveJudge();
const routing = { userInput: "Where is my parcel?", scenarios: [{ id: "s1", scenario: "A parcel." }] };
const base = (provider: JudgeProvider) => server.connection({ provider }).url!;

for (const provider of judgeProviders) {
  suite(`a call of ${provider}`, () => {
    test("has the query of the base URL after its own path", async () => {
      const url = `${base(provider)}?api-version=2026-01-01&region=eu%20west`;
      const { client } = openTestClient(server, { provider, url });
      // The scripted server knows no such path: what matters is the path that it is asked for.
      await client.route(routing);
      const asked = server.paths.at(-1)!;
      assert.match(
        asked,
        /\/(chat\/completions|messages|models\/[^?]+)\?api-version=2026-01-01&region=eu\+west$/,
      );
    });

    test("has the connection's own headers, in place of the provider's", async () => {
      const headers = [
        { name: "x-portkey-provider", value: "openai" },
        { name: "Authorization", value: "Basic abc" },
        { name: "x-api-key", value: "mine" },
      ];
      const { client } = openTestClient(server, { provider, headers });
      assert.equal((await client.route(routing)).code, "ok");
      const sent = server.requests[0]!.headers;
      assert.deepEqual(
        [sent["x-portkey-provider"], sent.authorization, sent["x-api-key"], sent["content-type"]],
        ["openai", "Basic abc", "mine", "application/json"],
      );
    });
  });
}
