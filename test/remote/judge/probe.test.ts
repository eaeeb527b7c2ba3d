// Which way of asking works: tried from the strictest down, and never beyond what another try could change.
import assert from "node:assert/strict";
import { test } from "node:test";
import { type JudgeCall, type JudgeMode, judgeModes } from "../../../src/model/judge/call.ts";
import { unanswered } from "../../../src/model/judge/outcome.ts";
import type { JudgeClient, JudgeReply } from "../../../src/remote/judge/client.ts";
import { probeJudge } from "../../../src/remote/judge/probe.ts";

type Behaviour = "ok" | "refuses" | "unusable" | "later" | "refused" | "misjudges";

/** A server that behaves like this in each mode; a client tries the next mode where one is refused. */
function serverOf(behaviours: Record<JudgeMode, Behaviour>) {
  const asked: string[] = [];
  const call = async <T>({ kind }: { kind: string }, from: JudgeMode): Promise<JudgeReply<T>> => {
    const rest = judgeModes.slice(judgeModes.indexOf(from));
    const mode = rest.find(one => behaviours[one] !== "refuses") ?? "text";
    asked.push(`${kind} ${mode}`);
    const behaviour = behaviours[mode];
    const made = { mode } as JudgeCall;
    if (behaviour === "ok" || behaviour === "misjudges") {
      const value: Map<string, unknown> =
        kind === "route"
          ? new Map([["s1", { label: "match", reason: "" }]])
          : new Map([["c1", { verdict: behaviour === "ok" ? "met" : "not_met", evidence: "", reason: "" }]]);
      return { code: "ok", value: value as T, call: made };
    }
    const code = behaviour === "refuses" ? "unusable" : behaviour;
    return { ...unanswered(code, { code: "judge_answer_malformed" }), call: made };
  };
  return {
    asked,
    clientOf: (mode: JudgeMode): Pick<JudgeClient, "call"> => ({ call: request => call(request, mode) }),
  };
}

const all = (behaviour: Behaviour) =>
  Object.fromEntries(judgeModes.map(mode => [mode, behaviour])) as Record<JudgeMode, Behaviour>;

async function probe(behaviours: Record<JudgeMode, Behaviour>, modes = judgeModes) {
  const { asked, clientOf } = serverOf(behaviours);
  let now = 0;
  const found = await probeJudge(clientOf, modes, new AbortController().signal, () => (now += 40));
  return { asked, found, ways: found.tried.map(({ mode, ok }) => `${mode} ${ok ? "works" : "fails"}`) };
}

test("the strictest mode is kept where it works, after one question of either kind and a long one", async () => {
  const { asked, found } = await probe(all("ok"));
  assert.deepEqual(asked, ["semantic json_schema", "route json_schema", "semantic json_schema"]);
  assert.deepEqual(found, {
    ok: true,
    mode: "json_schema",
    systemRole: true,
    temperature: true,
    ms: 40,
    reason: "The judge works.",
    detail: null,
    tried: [{ mode: "json_schema", ok: true, reason: "Works." }],
    state: "ok",
    fault: null,
    lowCount: null,
  });
});

test("modes that the server refuses are told, and the first that it takes is kept", async () => {
  const { found, ways } = await probe({ ...all("ok"), json_schema: "refuses", tool: "refuses" });
  assert.deepEqual(ways, ["json_schema fails", "tool fails", "json_object works"]);
  assert.equal(found.mode, "json_object");
  assert.equal(found.tried[0]!.reason, "Not supported.");
});

test("a mode that is taken and answered badly gives way to the next", async () => {
  const { found, ways } = await probe({
    json_schema: "refuses",
    tool: "unusable",
    json_object: "unusable",
    text: "ok",
  });
  assert.deepEqual(ways, ["json_schema fails", "tool fails", "json_object fails", "text works"]);
  assert.deepEqual([found.ok, found.mode], [true, "text"]);
});

test("a mode that the provider does not have is not tried", async () => {
  const { found, ways } = await probe(all("unusable"), ["json_schema", "tool", "text"]);
  assert.deepEqual(ways, ["json_schema fails", "tool fails", "text fails"]);
  assert.equal(found.ok, false);
});

test("where no mode works none is kept", async () => {
  const { asked, found } = await probe(all("unusable"));
  assert.equal(asked.length, 4);
  assert.deepEqual([found.ok, found.mode, found.state, found.tried.length], [false, null, "unusable", 4]);
});

for (const state of ["later", "refused"] as const) {
  test(`a server whose answer is ${state} is not asked in another mode`, async () => {
    const { asked, found } = await probe(all(state));
    assert.deepEqual(asked, ["semantic json_schema"]);
    assert.deepEqual(
      [found.ok, found.mode, found.state, found.reason],
      [false, null, state, "The judge did not answer with the requested JSON."],
    );
  });
}

test("a judge that answers in shape and misses the obvious works, and is not recommended", async () => {
  const { found } = await probe(all("misjudges"));
  assert.deepEqual([found.ok, found.mode, found.state], [false, "json_schema", "ok"]);
  assert.match(found.reason, /misjudged/);
});
