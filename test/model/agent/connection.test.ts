// Agent connections are validated strictly, with every error at its field, and secrets stay with their server.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { AgentType } from "../../../src/model/agent/agent.ts";
import {
  connectionView,
  parseConnection,
  type StoredConnection,
} from "../../../src/model/agent/connection.ts";
import { Refusal } from "../../../src/model/refusal.ts";

const http = {
  url: "https://agent.example.com/chat",
  bodyTemplate: '{"q": "{{input}}"}',
  reply: { kind: "json", pointer: "/reply" },
};
const flow = { product: "flowise", baseUrl: "https://flowise.example.com", flowId: "1" };

function issuesOf(input: unknown, type: AgentType = "http_api", stored?: StoredConnection) {
  try {
    parseConnection(input, type, stored);
  } catch (error) {
    assert.ok(error instanceof Refusal && error.code === "VALIDATION_ERROR");
    return error.issues!.map(({ path, message }) => `${path}: ${message}`);
  }
  return assert.fail("it was taken");
}

test("missing fields have their defaults", () => {
  assert.deepEqual(parseConnection(http, "http_api", undefined), {
    type: "http_api",
    method: "POST",
    ...http,
    headers: [],
    waitMs: 15_000,
    concurrency: 2,
  });
  const webhook = parseConnection(
    { kind: "webhook", url: "http://n8n.test/webhook/1" },
    "workflow",
    undefined,
  );
  assert.equal(webhook.type === "workflow" && webhook.kind === "webhook" && webhook.reply.kind, "auto");
  const flowise = parseConnection(flow, "flow_builder", undefined);
  assert.equal(flowise.type === "flow_builder" && flowise.sendHistory, false);
});

const faulty: [name: string, input: unknown, issue: RegExp, type?: AgentType][] = [
  ["nothing", null, /^type: Must be http_api/],
  ["another type", { ...http, type: "workflow" }, /^type: Must be http_api/],
  ["a missing field", { ...http, url: undefined }, /^url: This field is required/],
  ["an unknown field", { ...http, timeout: 1 }, /^timeout: Unknown field/],
  ["another protocol", { ...http, url: "ftp://agent.example.com" }, /^url: Must be a URL/],
  ["no address", { ...http, url: "agent.example.com/chat" }, /^url: Must be a URL/],
  ["a password", { ...http, url: "https://u:p@agent.example.com" }, /^url: Must not contain a user name/],
  ["a method without a body", { ...http, method: "GET" }, /^method: /],
  ["a broken template", { ...http, bodyTemplate: "{{input}}" }, /^bodyTemplate: Not valid JSON/],
  [
    "no pointer",
    { ...http, reply: { kind: "json", pointer: "reply" } },
    /^reply\.pointer: Not a JSON pointer/,
  ],
  ["a wait too long", { ...http, waitMs: 120_001 }, /^waitMs: /],
  [
    "no wait for a reply in the trace",
    { ...http, reply: { kind: "trace" }, waitMs: 999 },
    /^waitMs: Wait at least 1 s: the reply is in the trace\./,
  ],
  ["no run at once", { ...http, concurrency: 0 }, /^concurrency: /],
  ["no name of a header", { ...http, headers: [{ name: "a b", value: "" }] }, /^headers\[0\]\.name: /],
  [
    "a header in two lines",
    { ...http, headers: [{ name: "a", value: "b\r\nc: d" }] },
    /^headers\[0\]\.value: /,
  ],
  [
    "a header of ours",
    { ...http, headers: [{ name: "Host", value: "x" }] },
    /^headers\[0\]\.name: The service sets this/,
  ],
  [
    "a header twice",
    {
      ...http,
      headers: [
        { name: "a", value: "" },
        { name: "A", value: "" },
      ],
    },
    /^headers\[1\]\.name: Duplicate header/,
  ],
  [
    "a secret that nobody has",
    { ...http, headers: [{ name: "a", secret: true }] },
    /^headers\[0\]\.value: Enter a value/,
  ],
  [
    "a whole endpoint",
    { ...flow, baseUrl: "https://f.test/api/v1/prediction/1" },
    /^baseUrl: .*only the server/,
    "flow_builder",
  ],
  ["no flow", { ...flow, flowId: " " }, /^flowId: Must not be empty/, "flow_builder"],
  ...["../../admin?x=1", "..", ".", "%2e%2e", "a/b", "\ud800"].map((flowId): (typeof faulty)[number] => [
    `the flow ${JSON.stringify(flowId)}, which would lead to another path,`,
    { ...flow, flowId },
    /^flowId: Must be a flow/,
    "flow_builder",
  ]),
  ["no kind", { url: "https://n8n.test" }, /^kind: /, "workflow"],
];
for (const [name, input, issue, type] of faulty) {
  test(`${name} is refused at its field`, () => {
    const issues = issuesOf(input, type);
    assert.equal(issues.length, 1, issues.join("\n"));
    assert.match(issues[0]!, issue);
  });
}

test("a refusal repeats neither a URL nor a header's value", () => {
  const input = { ...http, url: "https://u:hidden@a.test", headers: [{ name: "a", value: "hidden\n" }] };
  assert.doesNotMatch(issuesOf(input).join(), /hidden/);
});

for (const name of [
  "Authorization",
  "X-Authorization",
  "cookie",
  "X-API-Key",
  "apikey",
  "Ocp-Apim-Subscription-Key",
  "X-Auth-Token",
  "client-secret",
]) {
  test(`${name} is a secret by default`, () => {
    const { headers } = parseConnection({ ...http, headers: [{ name, value: "1" }] }, "http_api", undefined);
    assert.equal(headers[0]!.secret, true);
  });
}

suite("secrets", () => {
  const headers = [
    { name: "Authorization", value: "Bearer hidden" },
    { name: "X-Tenant", value: "acme" },
  ];
  const stored: StoredConnection = {
    connection: parseConnection({ ...http, headers }, "http_api", undefined),
    unreadable: [],
    updatedAt: new Date(),
  };
  const view = connectionView(stored);

  test("are returned by name only", () => {
    assert.deepEqual(view.headers, [
      { name: "Authorization", secret: true, set: true },
      { name: "X-Tenant", value: "acme" },
    ]);
  });

  test("are kept when the connection is sent back as it was returned", () => {
    assert.deepEqual(parseConnection(view, "http_api", stored), stored.connection);
  });

  test("are kept for another path of the same host, and not for another host, port or protocol", () => {
    const url = (address: string) => ({ ...view, url: address });
    const kept = parseConnection(url("https://agent.example.com/other"), "http_api", stored);
    assert.equal(kept.headers[0]!.value, "Bearer hidden");
    for (const address of [
      "https://evil.test/chat",
      "https://agent.example.com:8443/",
      "http://agent.example.com/",
    ]) {
      assert.match(
        issuesOf(url(address), "http_api", stored)[0]!,
        /^headers\[0\]\.value: .*Enter this secret again/,
      );
    }
  });

  test("stay secret when the flag is left out", () => {
    const headers = [{ name: "Authorization" }];
    assert.match(
      issuesOf({ ...view, headers }, "http_api", stored)[0]!,
      /^headers\[0\]\.value: Enter a value/,
    );
  });

  test("must be entered again if another key encrypted them", () => {
    const unreadable = { ...stored, unreadable: ["Authorization"] };
    assert.deepEqual(connectionView(unreadable).headers[0], {
      name: "Authorization",
      secret: true,
      set: false,
    });
    assert.match(issuesOf(view, "http_api", unreadable)[0]!, /^headers\[0\]\.value: .*another key/);
  });

  test("of one agent type are not kept for a connection of another type", () => {
    const chat = { kind: "chat", url: http.url, headers: [{ name: "Authorization", secret: true }] };
    assert.match(issuesOf(chat, "workflow", stored)[0]!, /^headers\[0\]\.value: Enter a value/);
  });
});
