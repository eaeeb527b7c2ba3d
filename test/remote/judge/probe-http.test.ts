// A judge tried over HTTP in each protocol: what works is found, what a user typed is dialled within bounds.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openLog } from "../../../src/log.ts";
import type { JudgeConnection, JudgeProvider } from "../../../src/model/judge/call.ts";
import { modesOf } from "../../../src/remote/judge/models.ts";
import { openProbes, probeJudge } from "../../../src/remote/judge/probe.ts";
import { type Outbound, openOutbound } from "../../../src/remote/outbound.ts";
import {
  completion,
  counting,
  type JudgeRequest,
  type JudgeServer,
  materialOf,
  obliging,
  only,
  refusal,
  type Script,
  startJudgeServer,
  verdictsOf,
} from "../../support/judge-server.ts";

const log = openLog("silent");
let judge: JudgeServer;
let outbound: Outbound;
before(async () => {
  judge = await startJudgeServer();
  outbound = openOutbound({ allow: ["127.0.0.1"] });
});
after(async () => {
  await outbound.close();
  await judge.close();
});
beforeEach(() => {
  judge.script = obliging();
  judge.requests.length = 0;
});

async function probe(connection: JudgeConnection, { by = outbound, typed = true } = {}) {
  const clientOf = await openProbes({ outbound: by, log })(connection, { userSupplied: typed });
  return probeJudge(clientOf, modesOf(connection.provider), new AbortController().signal);
}

const providers: JudgeProvider[] = ["openai", "anthropic", "google", "openai_compatible"];

for (const provider of providers) {
  test(`${provider} that takes a schema is found to, by two short questions and a long one`, async () => {
    const found = await probe(judge.connection({ provider }));
    assert.deepEqual([found.ok, found.mode, found.reason], [true, "json_schema", "The judge works."]);
    assert.equal(judge.requests.length, 3);
  });

  test(`${provider} that takes plain JSON alone is found to, each stricter way having been tried`, async () => {
    judge.script = only(["text"], obliging());
    const found = await probe(judge.connection({ provider }));
    assert.deepEqual([found.ok, found.mode], [true, "text"]);
    assert.deepEqual(
      found.tried.map(({ mode, ok }) => [mode, ok]),
      modesOf(provider).map(mode => [mode, mode === "text"]),
    );
  });
}

test("an address on a network of the service's own is not called for a user, but for the operator", async () => {
  const strict = openOutbound({ allow: [] });
  try {
    const refused = await probe(judge.connection(), { by: strict });
    assert.equal(refused.state, "refused");
    assert.match(refused.reason, /127\.0\.0\.1 .*SVC_ALLOW_PRIVATE_TARGETS/);
    assert.equal(judge.requests.length, 0);
    assert.equal((await probe(judge.connection(), { by: strict, typed: false })).ok, true);
  } finally {
    await strict.close();
  }
});

test("an answer beyond the bound is no answer, for an operator's judge and a user's", async () => {
  judge.script = () => completion("x".repeat(2_000_000));
  for (const typed of [true, false]) {
    const { tried } = await probe(judge.connection(), { typed });
    assert.deepEqual(
      [...new Set(tried.map(({ reason }) => reason))],
      ["The judge's answer is larger than 1 MB."],
    );
    assert.equal(tried.length, 4);
  }
});

test("a bound on tokens a minute does not hold a test up", async () => {
  assert.equal((await probe(judge.connection({ tokensPerMinute: 100 }))).ok, true);
});

test("a model that takes no system role is found to take none, and keeps its mode", async () => {
  judge.script = (request, index) => {
    const { messages } = request.body as { messages: { role: string }[] };
    return messages[0]!.role === "system"
      ? refusal(400, { message: "System role not supported" })
      : obliging()(request, index);
  };
  const found = await probe(judge.connection());
  assert.deepEqual([found.ok, found.mode, found.systemRole], [true, "json_schema", false]);
});

test("a context that is too small is named as such, not as a mode that fails", async () => {
  judge.script = () => refusal(400, { code: "context_length_exceeded" });
  const found = await probe(judge.connection());
  assert.deepEqual([found.ok, found.tried.length, found.state], [false, 1, "unusable"]);
  assert.match(found.reason, /longer than the judge's context/);
});

test("one glitch in the mode that works does not lower it", async () => {
  judge.script = (request, index) =>
    index === 0 ? refusal(500, { message: "failed to parse grammar" }) : obliging()(request, index);
  const found = await probe(judge.connection());
  assert.deepEqual([found.ok, found.mode, found.tried.length], [true, "json_schema", 1]);
});

/** Only the third question of a test is long. */
const short = 30_000;

function isLong({ instructions, material }: JudgeRequest): boolean {
  return instructions.length + material.length > short;
}

const onlyLong = (script: Script): Script => {
  return (request, index) => (isLong(request) ? script : obliging())(request, index);
};

test("the long question is as long as a question may be, and asks about the beginning of the reply", async () => {
  await probe(judge.connection());
  const { userInput, replies, conversation } = materialOf(judge.requests[2]!);
  assert.equal(userInput!.length, 8_000);
  assert.equal(replies[0]!.text.length, 24_000);
  assert.equal(conversation![0]!.text.length, 12_000);
  assert.match(replies[0]!.text, /^Your parcel .* on Friday\. Shop 1 opens at 8/);
});

for (const [name, script, fault, reason] of [
  [
    "rejects a long prompt",
    () => refusal(400, { code: "context_length_exceeded" }),
    "context",
    /works with short prompts.* longer than the judge's context \(400\).* 32,000 tokens/,
  ],
  [
    "cuts the beginning of a long prompt",
    request => completion({ first_word: "", verdicts: verdictsOf(request) }),
    "context",
    /works with short prompts.* cut the beginning of the prompt.* 32,000 tokens/,
  ],
  [
    "overlooks the beginning of a long reply",
    obliging({ verdict: () => "not_met" }),
    "misjudged",
    /overlooked/,
  ],
  ["answers a long prompt without JSON", () => completion("Friday."), "unusable", /requested JSON/],
  ["limits the tokens of a minute", () => refusal(429), "later", /short prompts.* status 429/],
] as const satisfies [string, Script, string, RegExp][]) {
  test(`a judge that ${name} works, in the mode that was found, and says what is wrong`, async () => {
    judge.script = onlyLong(script);
    const found = await probe(judge.connection());
    assert.deepEqual([found.ok, found.mode, found.fault], [false, "json_schema", fault]);
    assert.match(found.reason, reason);
  });
}

test("a server that counts far fewer tokens than were sent works, and says so", async () => {
  judge.script = counting(4_096, obliging());
  const found = await probe(judge.connection());
  assert.deepEqual([found.ok, found.fault, found.lowCount?.counted], [true, null, 4_096]);
  assert.match(found.reason, /counted only 4,096 of about 1[1234],\d{3} tokens of a long prompt/);
});
