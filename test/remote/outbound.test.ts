// Outbound calls reach only allowed targets, whatever names, redirects and replies try.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import {
  type Outbound,
  type OutboundOptions,
  OutboundRefused,
  OutboundTooLarge,
  openOutbound,
} from "../../src/remote/outbound.ts";

const closing: (() => unknown)[] = [];
after(() => Promise.all(closing.map(close => close())));

type Local = { url: string; port: number; requests: (IncomingMessage & { text: string })[] };

async function listen(answer: RequestListener, address = "127.0.0.1"): Promise<Local> {
  const requests: Local["requests"] = [];
  const server: Server = createServer(async (request, response) => {
    requests.push(Object.assign(request, { text: await text(request) }));
    answer(request, response);
  });
  await new Promise<void>(resolve => server.listen(0, address, resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise(resolve => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://${address}:${port}`, port, requests };
}

function open(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = openOutbound({ allow: ["127.0.0.0/8"], ...options });
  closing.push(() => outbound.close());
  return outbound;
}

/** A fake resolver: each lookup of a name returns its next answer, then repeats the last one. */
function names(table: Record<string, string[][]>): NonNullable<OutboundOptions["resolve"]> {
  const asked = new Map<string, number>();
  return async host => {
    const answers = table[host];
    if (answers === undefined) throw Object.assign(new Error("getaddrinfo"), { code: "ENOTFOUND" });
    const at = asked.get(host) ?? 0;
    asked.set(host, at + 1);
    const addresses = answers[Math.min(at, answers.length - 1)]!;
    return addresses.map(address => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
}

const hello = await listen((_request, response) => response.end("hello"));
const here = open();
const strict = open({ allow: [] });

async function refused(call: Promise<unknown>, message: RegExp): Promise<void> {
  await assert.rejects(call, (error: Error) => {
    assert.ok(error instanceof OutboundRefused, String(error));
    assert.match(error.message, message);
    return true;
  });
}

test("an allowed target is called, and its reply returned", async () => {
  const agent = await listen((_request, response) =>
    response.writeHead(201, { "x-said": "so" }).end("as told"),
  );
  const response = await here.fetch(`${agent.url}/chat?a=1`, {
    method: "POST",
    headers: { authorization: "Bearer x", "content-type": "application/json" },
    body: '{"q":1}',
  });
  assert.deepEqual(
    [response.status, response.headers.get("x-said"), await response.text()],
    [201, "so", "as told"],
  );
  const [request] = agent.requests;
  assert.deepEqual(
    [request!.method, request!.url, request!.text, request!.headers["authorization"]],
    ["POST", "/chat?a=1", '{"q":1}', "Bearer x"],
  );
});

const spellings = [
  "127.0.0.1",
  "127.0.0.1.",
  "127.1",
  "127.1.",
  "127。0。0。1",
  "127.0.\t0.1",
  "2130706433",
  "0x7f000001",
  "0X7F.1",
  "0x7f.0x0.0x0.0x1",
  "0177.0.0.1",
  "017700000001",
  "00000177.1",
  "①②⑦.⓪.⓪.①",
  "%31%32%37.0.0.1",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[0:0:0:0:0:ffff:127.0.0.1]",
  "[::ffff:0:7f00:1]",
  "[::7f00:1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[64:ff9b:1::7f00:1]",
  "[::1]",
  "[::]",
  "0",
  "localhost",
  "LOCALHOST",
  "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
];

for (const host of spellings) {
  test(`loopback written as ${host} is refused before anything is sent`, async () => {
    const before = hello.requests.length;
    await refused(strict.fetch(`http://${host}:${hello.port}/`), /SVC_ALLOW_PRIVATE_TARGETS=/);
    assert.equal(hello.requests.length, before);
  });
}

test("a refusal names the host and the setting that allows it, never the IP address of the host", async () => {
  const outbound = open({ allow: [], resolve: names({ "agent.internal": [["10.20.30.40"]] }) });
  await assert.rejects(outbound.fetch("http://agent.internal/"), {
    name: "OutboundRefused",
    message:
      "agent.internal leads to a private address, which this service does not call. The operator of the service can allow it: SVC_ALLOW_PRIVATE_TARGETS=agent.internal.",
  });
});

test("a name with any private address is refused, wherever it is in the list", async () => {
  const resolve = names({
    "a.example.com": [["8.8.8.8", "10.0.0.1"]],
    "b.example.com": [["::1", "8.8.8.8"]],
  });
  const outbound = open({ allow: [], resolve });
  await refused(outbound.fetch("http://a.example.com/"), /private/);
  await refused(outbound.fetch("http://b.example.com/"), /loopback/);
});

test("a name that resolves to a private address the second time is refused the second time", async () => {
  const resolve = names({ "rebind.example.com": [["127.0.0.1"], ["127.0.0.2"], ["169.254.169.254"]] });
  const outbound = open({ allow: ["127.0.0.1"], resolve });
  const url = `http://rebind.example.com:${hello.port}/`;
  assert.equal(await (await outbound.fetch(url)).text(), "hello");
  await refused(outbound.fetch(url), /loopback/);
  await refused(outbound.fetch(url), /link-local/);
});

test("a name that resolves to a private address after a redirect to itself is refused there", async () => {
  const turning = await listen((_request, response) => response.writeHead(307, { location: "/again" }).end());
  const resolve = names({ "rebind.example.com": [["127.0.0.1"], ["127.0.0.2"]] });
  const outbound = open({ allow: ["127.0.0.1"], resolve });
  await refused(outbound.fetch(`http://rebind.example.com:${turning.port}/`), /loopback/);
  assert.equal(turning.requests.length, 1);
});

test("a call resolves its host once and dials the address that was checked", async () => {
  let lookups = 0;
  const resolve = async () => {
    lookups += 1;
    return [{ address: lookups === 1 ? "127.0.0.1" : "127.0.0.9", family: 4 }];
  };
  const outbound = open({ allow: ["127.0.0.1"], resolve });
  const response = await outbound.fetch(`http://once.example.com:${hello.port}/`);
  assert.equal(await response.text(), "hello");
  assert.equal(lookups, 1);
  assert.equal(hello.requests.at(-1)!.headers.host, `once.example.com:${hello.port}`);
});

test("if one address of a name does not answer, the next one is tried", async () => {
  const outbound = open({ resolve: names({ "two.example.com": [["127.0.0.3", "127.0.0.1"]] }) });
  assert.equal(await (await outbound.fetch(`http://two.example.com:${hello.port}/`)).text(), "hello");
});

test("a host that is allowed by name is called whatever it resolves to", async () => {
  const loopback = [["127.0.0.1"]];
  const resolve = names({
    "agent.internal": loopback,
    "agent.internal.": loopback,
    "other.internal.": loopback,
  });
  const outbound = open({ allow: ["agent.internal"], resolve });
  for (const host of ["agent.internal", "AGENT.internal", "agent.internal."]) {
    assert.equal(await (await outbound.fetch(`http://${host}:${hello.port}/`)).text(), "hello");
  }
  await refused(outbound.fetch(`http://other.internal.:${hello.port}/`), /^other\.internal leads/);
});

for (const url of [
  "file:///etc/passwd",
  "ftp://127.0.0.1/",
  "gopher://127.0.0.1/",
  "data:,hello",
  "ws://127.0.0.1/",
]) {
  test(`${url} is refused, because only http and https are called`, () => refused(here.fetch(url), /http/));
}

for (const host of [
  "[fe80::1%25lo]",
  "127.0.0.1%00",
  "256.1.1.1",
  "4294967297",
  "127.0.0.1:99999",
  "[v1.fe]",
]) {
  test(`http://${host}/ is refused as an invalid URL`, () =>
    refused(here.fetch(`http://${host}/`), /^The URL is invalid\.$/));
}

test("a password in a URL is refused and not repeated", async () => {
  for (const who of ["user:hidden", "hidden", ":hidden"]) {
    const url = `http://${who}@127.0.0.1:${hello.port}/`;
    await refused(here.fetch(url), /^(?!.*hidden).*user name or password/);
  }
  await refused(here.fetch("http://user:hidden@/"), /^(?!.*hidden)/);
});

test("a port of another protocol, such as SMTP, is refused", async () => {
  await refused(here.fetch("http://127.0.0.1:25/"), /^Port 25 is not called/);
});

test("the caller's host header is not sent", async () => {
  await here.fetch(hello.url, { headers: { Host: "metadata.internal", Connection: "upgrade" } });
  assert.equal(hello.requests.at(-1)!.headers.host, `127.0.0.1:${hello.port}`);
});

test("a redirect to a metadata address is refused", async () => {
  const trap = await listen((_request, response) =>
    response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data/" }).end(),
  );
  await refused(here.fetch(trap.url), /^169\.254\.169\.254 is a link-local address/);
});

for (const location of ["file:///etc/passwd", "http://user:hidden@127.0.0.1/", "http://[bad"]) {
  test(`a redirect to ${location} is refused`, async () => {
    const trap = await listen((_request, response) => response.writeHead(307, { location }).end());
    await refused(here.fetch(trap.url), /^(?!.*hidden)/);
  });
}

test("a redirect to another origin drops credentials, also on the way back", async () => {
  const back = await listen((_request, response) => response.end("home"));
  const other = await listen((_request, response) =>
    response.writeHead(307, { location: `${back.url}/home` }).end(),
  );
  const first = await listen((request, response) =>
    request.url === "/start"
      ? response.writeHead(307, { location: "/same" }).end()
      : response.writeHead(307, { location: other.url }).end(),
  );
  const headers = {
    authorization: "Bearer hidden",
    cookie: "hidden",
    "proxy-authorization": "hidden",
    "x-api-key": "hidden",
    "x-request-id": "run-1",
    traceparent: "00-1",
    "content-type": "text/plain",
  };
  const response = await here.fetch(`${first.url}/start`, { method: "POST", headers, body: "question" });
  assert.equal(await response.text(), "home");
  assert.equal(first.requests[1]!.headers["x-api-key"], "hidden", "the same origin keeps it");
  for (const { requests } of [other, back]) {
    assert.equal(requests.length, 1);
    assert.doesNotMatch(JSON.stringify(requests[0]!.rawHeaders), /hidden/);
    assert.deepEqual(
      [requests[0]!.headers["x-request-id"], requests[0]!.headers["traceparent"], requests[0]!.text],
      ["run-1", "00-1", "question"],
    );
  }
});

for (const [status, method] of [
  [301, "POST"],
  [302, "POST"],
  [303, "POST"],
  [303, "PUT"],
] as const) {
  test(`${status} after a ${method} would drop the body, so it is not followed`, async () => {
    const agent = await listen((_request, response) =>
      response.writeHead(status, { location: "/next" }).end(),
    );
    const response = await here.fetch(agent.url, { method, body: "question" });
    assert.deepEqual([response.status, agent.requests.length], [status, 1]);
  });
}

for (const [status, method] of [
  [302, "PUT"],
  [307, "POST"],
  [308, "POST"],
  [308, "PATCH"],
] as const) {
  test(`after ${status} a ${method} is sent again`, async () => {
    const agent = await listen((request, response) =>
      request.url === "/" ? response.writeHead(status, { location: "/next" }).end() : response.end("there"),
    );
    const headers = { "content-type": "text/plain" };
    const response = await here.fetch(agent.url, { method, headers, body: "question" });
    assert.equal(await response.text(), "there");
    const next = agent.requests[1]!;
    assert.deepEqual(
      [next.method, next.text, next.headers["content-type"]],
      [method, "question", "text/plain"],
    );
  });
}

test("a redirect without a location is returned as a reply", async () => {
  const lost = await listen((_request, response) => response.writeHead(302).end("nowhere"));
  const response = await here.fetch(lost.url);
  assert.deepEqual([response.status, await response.text()], [302, "nowhere"]);
});

test("endless redirects are given up after five", async () => {
  const circle = await listen((_request, response) => response.writeHead(302, { location: "/" }).end());
  await refused(here.fetch(circle.url), /redirects more than 5 times/);
  assert.equal(circle.requests.length, 6);
});

test("an endless body is given up at the size limit, and its connection closed", async () => {
  let closed: (() => void) | undefined;
  const ended = new Promise<void>(resolve => (closed = resolve));
  const endless = await listen((_request, response) => {
    const chunk = Buffer.alloc(65_536, "x");
    const more = () => {
      while (response.write(chunk));
    };
    response.on("drain", more).on("close", () => closed!());
    more();
  });
  const response = await here.fetch(endless.url);
  await assert.rejects(response.text(), OutboundTooLarge);
  await ended;
});

test("the size limit applies to the decompressed body", async () => {
  const bomb = await promisify(gzip)(Buffer.alloc(50_000_000));
  assert.ok(bomb.length < 100_000);
  const twice = await promisify(gzip)(bomb);
  const server = await listen((request, response) => {
    const [encoding, body] = request.url === "/twice" ? ["gzip, gzip", twice] : ["gzip", bomb];
    response.writeHead(200, { "content-encoding": encoding }).end(body);
  });
  for (const path of ["/once", "/twice"]) {
    const response = await here.fetch(server.url + path);
    await assert.rejects(response.text(), OutboundTooLarge);
  }
});

test("a body of exactly the size limit is complete, and one more byte is too large", async () => {
  const server = await listen((request, response) => response.end("x".repeat(Number(request.url!.slice(1)))));
  const limits = { replyBytesMax: 1_000 };
  assert.equal((await (await here.fetch(`${server.url}/1000`, {}, limits)).text()).length, 1_000);
  const response = await here.fetch(`${server.url}/1001`, {}, limits);
  await assert.rejects(response.text(), OutboundTooLarge);
});

/** An outbound whose time passes only when told to. */
function timed(): { outbound: Outbound; pass(): void; asked: number[] } {
  const controller = new AbortController();
  const asked: number[] = [];
  const outbound = open({
    timeout: ms => {
      asked.push(ms);
      return controller.signal;
    },
  });
  return { outbound, asked, pass: () => controller.abort(new DOMException("Too late", "TimeoutError")) };
}

test("a reply that does not start in time is given up", async () => {
  const { outbound, asked, pass } = timed();
  const silent = await listen(() => pass());
  await assert.rejects(outbound.fetch(silent.url), { name: "TimeoutError" });
  assert.deepEqual(asked, [60_000]);
});

test("redirects share the time limit of one call", async () => {
  const { outbound, asked, pass } = timed();
  const slow = await listen((request, response) => {
    if (request.url === "/") response.writeHead(307, { location: "/next" }).end();
    else pass();
  });
  await assert.rejects(outbound.fetch(slow.url), { name: "TimeoutError" });
  assert.deepEqual(asked, [60_000]);
  assert.equal(slow.requests.length, 2);
});

test("a slow body is given up when the time of the whole call is over", async () => {
  const { outbound, pass } = timed();
  const drip = await listen((_request, response) => void response.write("a"));
  const response = await outbound.fetch(drip.url, {}, { timeoutMs: 500 });
  const reader = response.body!.getReader();
  assert.equal((await reader.read()).value?.length, 1);
  pass();
  await assert.rejects(reader.read(), { name: "TimeoutError" });
});

test("a name that is never resolved is given up in time, too", async () => {
  const controller = new AbortController();
  const outbound = open({
    resolve: () => {
      setImmediate(() => controller.abort(new DOMException("Too late", "TimeoutError")));
      return new Promise(() => undefined);
    },
    timeout: () => controller.signal,
  });
  await assert.rejects(outbound.fetch("http://slow.example.com/"), { name: "TimeoutError" });
});

test("a call that can be aborted is given up in time as well", async () => {
  const { outbound, pass } = timed();
  const silent = await listen(() => pass());
  const { signal } = new AbortController();
  await assert.rejects(outbound.fetch(silent.url, { signal }), { name: "TimeoutError" });
});

test("closing aborts the calls in progress", async () => {
  const outbound = open();
  const silent = await listen(() => void outbound.close());
  await assert.rejects(outbound.fetch(silent.url), TypeError);
});

test("the caller's signal aborts a call", async () => {
  const controller = new AbortController();
  const silent = await listen(() => controller.abort());
  await assert.rejects(here.fetch(silent.url, { signal: controller.signal }), { name: "AbortError" });
});

test("an unknown host, a closed port and a broken reply are TypeErrors with their cause", async () => {
  const outbound = open({ resolve: names({}) });
  await assert.rejects(outbound.fetch("http://nowhere.example.com/"), (error: TypeError) => {
    assert.equal((error.cause as { code: string }).code, "ENOTFOUND");
    return error instanceof TypeError;
  });
  await assert.rejects(here.fetch(`http://127.0.0.9:${hello.port}/`), TypeError);
  const broken = createTcpServer(socket => socket.end("HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n"));
  await new Promise<void>(resolve => broken.listen(0, "127.0.0.1", resolve));
  closing.push(() => broken.close());
  await assert.rejects(here.fetch(`http://127.0.0.1:${(broken.address() as AddressInfo).port}/`), TypeError);
});

test("a reply without a body is returned", async () => {
  const empty = await listen((_request, response) => response.writeHead(204).end());
  const response = await here.fetch(empty.url);
  assert.deepEqual([response.status, await response.text()], [204, ""]);
});

test("a proxy set in the environment is not used", async () => {
  const proxy = await listen((_request, response) => response.end("proxied"));
  const script = `
    import { openOutbound } from ${JSON.stringify(import.meta.resolve("../../src/remote/outbound.ts"))};
    const outbound = openOutbound({ allow: ["127.0.0.0/8"] });
    process.stdout.write(await outbound.fetch(process.argv[1]).then(response => response.text(), String));
    await outbound.close();`;
  const env = { HTTP_PROXY: proxy.url, http_proxy: proxy.url, ALL_PROXY: proxy.url, NODE_USE_ENV_PROXY: "1" };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "--eval", script, hello.url],
    { env: { ...process.env, ...env } },
  );
  assert.equal(stdout, "hello");
  assert.equal(proxy.requests.length, 0);
});
