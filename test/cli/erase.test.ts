// The command that erases data: its dry run, its exit codes, and what it says when it cannot.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { makeTest } from "../support/app.ts";
import { canonicalBody, canonicalSpan } from "../support/bodies.ts";
import { childEnv } from "../support/child-env.ts";
import { send, traceIdOf } from "../support/send.ts";
import { startTestService, type TestService } from "../support/service.ts";

let service: TestService;
let token: string;
before(async () => {
  service = await startTestService();
  const made = { name: "Erase", scope: "erasures" };
  token = (await service.client.post("/api/access-tokens", made).expect(201)).body.token;
});
after(() => service.stop());

async function svc(args: string[], { input = "", secret = token } = {}) {
  const cli = join(import.meta.dirname, "../../src/cli.ts");
  const all = [cli, "erase", "--url", service.url, "--project", service.projectId, ...args];
  const child = spawn(process.execPath, all, {
    env: { ...childEnv, SVC_TOKEN: secret },
    stdio: ["pipe", "pipe", "pipe"],
  });
  child.stdin!.on("error", () => {});
  child.stdin!.end(input);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout!),
    text(child.stderr!),
    once(child, "exit"),
  ]);
  return { code, out, err };
}

const sendFor = (user: string) =>
  send(service, {
    body: canonicalBody(service.agent.id, { spans: [canonicalSpan({ attributes: { "user.id": user } })] }),
  });

test("a dry run lists what it found, its number erases it, and further matches end with 1", async () => {
  await sendFor("jane\u001b[31m");
  await sendFor("john");
  const user = { input: "jane\u001b[31m\n" };
  const dryRun = await svc(["--user-id", "-", "--dry-run"], user);
  assert.equal(dryRun.code, 0, dryRun.err);
  assert.match(dryRun.out, /^1 trace matches\.\n {4}[0-9a-f-]{36} {2}attributes user\.id: jane\uFFFD\[31m\n/);
  assert.match(dryRun.out, /--confirm 1 in place of --dry-run\.\n$/);
  await sendFor("jane\u001b[31m");
  const more = await svc(["--user-id", "-", "--confirm", "1"], user);
  assert.deepEqual([more.code, more.out], [1, ""]);
  assert.match(more.err, /2 traces match by now, and 1 was confirmed\. Nothing was erased\./);
  assert.equal((await svc(["--user-id", "-", "--dry-run"], user)).code, 0);
  const erased = await svc(["--user-id", "-", "--confirm", "2"], user);
  assert.equal(erased.code, 0, erased.err);
  assert.equal(erased.out, "2 of 2 traces erased.\n");
  const { rows } = await service.db.pool.query("select user_id from traces");
  assert.deepEqual(rows, [{ user_id: "john" }]);
  const { out } = await svc(["--user-id", "john", "--dry-run", "--json"]);
  assert.equal(JSON.parse(out).matched, 1);
});

test("trace IDs are read from standard input, separated by commas or lines", async () => {
  const ids: string[] = [];
  for (let at = 0; at < 3; at++) ids.push(traceIdOf(await sendFor("jim")));
  for (const input of [`${ids[0]}\n`, ids.slice(0, 2).join(", "), `${ids.join("\r\n")}\r\n`]) {
    const { code, out, err } = await svc(["--trace-ids", "-", "--dry-run", "--json"], { input });
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).matched, input.match(/[0-9a-f-]{36}/g)!.length);
  }
  const { out } = await svc(["--trace-ids", `${ids[0]},${ids[2]}`, "--dry-run", "--json"]);
  assert.equal(JSON.parse(out).matched, 2);
});

test("a dry run lists the tests that have the value below each other, and says if there is nothing to erase", async () => {
  const { id } = await makeTest(service.owner, service.agent.id, {
    name: "Asks",
    turns: [{ input: "I am june" }],
  });
  const held = await svc(["--text", "I am june", "--dry-run"]);
  assert.equal(
    held.out,
    `0 traces match.\nTests that have it, to be edited or disabled in the dashboard:\n    ${id}  Asks: I am june\nTo erase: the same with --confirm 0 in place of --dry-run.\n`,
  );
  const none = await svc(["--user-id", "nobody", "--dry-run"]);
  assert.equal(none.out, "0 traces match.\nNothing to erase. Check the spelling: case matters.\n");
});

test("a dry run says what was redacted beside what it found", async () => {
  const privacy = `/api/projects/${service.projectId}/privacy` as const;
  const body = await service.client.read(privacy);
  await service.client.put(privacy, { ...body, builtIn: ["email"] }).expect(200);
  await send(service, {
    body: canonicalBody(service.agent.id, {
      spans: [canonicalSpan({ attributes: { note: "Code QX-77-Z for jane@example.com" } })],
    }),
  });
  const { out } = await svc(["--text", "QX-77-Z", "--dry-run"]);
  assert.match(out, /attributes note: Code QX-77-Z for ⟦email⟧\n/);
});

test("wrong usage and rejected requests end with 2, and neither the token nor a stack is printed", async () => {
  const made = await service.client.post("/api/access-tokens", { name: "CI" }).expect(201);
  const cases: [string[], RegExp, string?][] = [
    [["--dry-run"], /pass exactly one of --user-id/],
    [["--text", "some text", "--user-id", "one", "--dry-run"], /pass exactly one of --user-id/],
    [["--text", "some text"], /pass either --dry-run, or --confirm/],
    [["--text", "some text", "--confirm", "x"], /whole number/],
    [["--text", "abc", "--dry-run"], /at least 4 characters/],
    [["--text", "some text", "--confirm", "1"], /No dry run of this criterion/],
    [["--text", "some text", "--dry-run"], /only read data and start or cancel runs/, made.body.token],
    [["--text", "some text", "--dry-run"], /no access token/, ""],
  ];
  for (const [args, expected, secret] of cases) {
    const { code, out, err } = await svc(args, secret === undefined ? {} : { secret });
    assert.deepEqual([code, out], [2, ""], String(args));
    assert.match(err, expected);
    assert.doesNotMatch(err, /svcp_|\n\s+at /);
  }
});
