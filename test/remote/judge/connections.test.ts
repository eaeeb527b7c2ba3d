// A judge that cannot be connected to is reported with the cause, like an agent.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createPlainServer } from "node:net";
import { after, suite, test } from "node:test";
import { reasonText } from "../../../src/model/run/reason-text.ts";
import { callAgent } from "../../../src/remote/agent/call.ts";
import { judgeFetch } from "../../../src/remote/judge/call.ts";
import { openOutbound } from "../../../src/remote/outbound.ts";
import { openClient, serveJudge } from "../../support/judge-clients.ts";
import { reset, startJudgeServer } from "../../support/judge-server.ts";

const server = await serveJudge();
// Self-signed.
const pem = readFileSync(new URL("../../fixtures/tls/agent.example.com.pem", import.meta.url), "utf8");
const tls = createServer({ key: pem, cert: pem }, (_, response) => response.end("{}"));
await new Promise<void>(resolve => tls.listen(0, "127.0.0.1", resolve));
// As OpenSSL's own server answers what is no TLS.
const alerting = createPlainServer(socket =>
  socket.once("data", () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 0x46]))),
);
await new Promise<void>(resolve => alerting.listen(0, "127.0.0.1", resolve));
const gone = await startJudgeServer();
await gone.close();
const outbound = openOutbound({
  allow: ["127.0.0.0/8"],
  resolve: async host => {
    if (host === "no.example.com") throw Object.assign(new Error("lookup failed"), { code: "ENOTFOUND" });
    return [{ address: "127.0.0.1", family: 4 }];
  },
});
after(async () => {
  await outbound.close();
  tls.closeAllConnections();
  tls.close();
  alerting.close();
});

const question = { userInput: "Where is my parcel?", scenarios: [{ id: "s1", scenario: "A parcel." }] };
const alertPort = (alerting.address() as AddressInfo).port;
const tlsPort = (tls.address() as AddressInfo).port;

for (const [what, url, expected] of [
  [
    "a self-signed certificate",
    `https://127.0.0.1:${tlsPort}/v1`,
    "could not be reached: its certificate is self-signed; the operator of the service can trust it with NODE_EXTRA_CA_CERTS.",
  ],
  [
    "TLS to a port without TLS",
    server.url.replace("http:", "https:"),
    "could not be reached: the port does not speak TLS; its URL probably begins with http://.",
  ],
  [
    "plain HTTP to a port with TLS",
    `http://127.0.0.1:${tlsPort}/v1`,
    "closed the connection without an answer (does its port need https://?).",
  ],
  [
    "plain HTTP to a port with TLS that answers with an alert",
    `http://127.0.0.1:${alertPort}/v1`,
    "could not be reached: the port speaks TLS; the URL must begin with https://.",
  ],
  ["an unknown host name", "http://no.example.com/v1", "could not be reached: the host name was not found."],
  ["a closed port", gone.url, "could not be reached: the connection was refused."],
  ["a reset", server.url, "closed the connection without an answer (does its port need https://?)."],
] as const) {
  suite(`${what} is named`, () => {
    for (const typed of [true, false]) {
      // Names resolve differently there.
      if (!typed && url.includes("example.com")) continue;
      test(typed ? "for a project's judge" : "for the environment's judge", async () => {
        server.script = () => reset;
        const fetch = typed ? { fetch: judgeFetch(outbound, 30_000) } : {};
        const reply = await openClient(server.connection({ url }), fetch).route(question);
        assert.ok(reply.code === "later");
        assert.match(reasonText(reply.detail), /^The judge( could not be reached|'s server)/);
        assert.ok(reasonText(reply.detail).endsWith(expected), reasonText(reply.detail));
      });
    }

    test("for an agent", async () => {
      server.script = () => reset;
      const common = { headers: [], waitMs: 0, concurrency: 1, method: "POST" as const };
      const { error } = await callAgent(
        outbound,
        {
          ...common,
          type: "http_api",
          url: `${url}/chat/completions`,
          bodyTemplate: '{"messages":[{"content":"Hi"}]}',
          reply: { kind: "text" },
        },
        {
          ...{ input: "Hi", conversationId: "c", requestId: "r", history: [] },
          traceparent: "00-00000000000000000000000000000001-0000000000000001-01",
        },
      );
      assert.ok(error?.reason.endsWith(expected), error?.reason);
    });
  });
}
