// Which way of asking works: tried from the strictest down, and never beyond what another try could change.
import assert from "node:assert/strict";
import { test } from "node:test";
import type {
  JudgeCall,
  JudgeMode,
  LineReply,
  RouteLabels,
  SemanticAsk,
  Verdicts,
} from "../../../src/model/judge/call.ts";
import { judgeModes } from "../../../src/model/judge/call.ts";
import { probeJudge } from "../../../src/remote/judge/probe.ts";

type Behaviour = "ok" | "refuses" | "unusable" | "later" | "refused" | "misjudges";

const call = (mode: JudgeMode) => ({ mode }) as JudgeCall;

/** A server that behaves like this in each mode; a line goes on by itself where a mode is refused. */
function serverOf(behaviours: Record<JudgeMode, Behaviour>) {
  const asked: string[] = [];
  const put = <T>(kind: string, from: JudgeMode, value: (behaviour: Behaviour) => T): LineReply<T> => {
    const rest = judgeModes.slice(judgeModes.indexOf(from));
    const mode = rest.find(one => behaviours[one] !== "refuses") ?? "text";
    asked.push(`${kind} ${mode}`);
    const behaviour = behaviours[mode];
    if (behaviour === "ok" || behaviour === "misjudges") {
      return { state: "ok", value: value(behaviour), call: call(mode) };
    }
    const state = behaviour === "refuses" ? "unusable" : behaviour;
    return { state, reason: `It was ${state}.`, call: call(mode) };
  };
  return {
    asked,
    lineOf: (mode: JudgeMode) => ({
      judge: async (_ask: SemanticAsk) =>
        put<Verdicts>(
          "judge",
          mode,
          behaviour =>
            new Map([["c1", { verdict: behaviour === "ok" ? "met" : "not_met", evidence: "", reason: "" }]]),
        ),
      route: async () =>
        put<RouteLabels>("route", mode, () => new Map([["s1", { label: "match", reason: "" }]])),
    }),
  };
}

const all = (behaviour: Behaviour) =>
  Object.fromEntries(judgeModes.map(mode => [mode, behaviour])) as Record<JudgeMode, Behaviour>;

async function probe(behaviours: Record<JudgeMode, Behaviour>, modes = judgeModes) {
  const { asked, lineOf } = serverOf(behaviours);
  let now = 0;
  const found = await probeJudge(lineOf, modes, new AbortController().signal, () => (now += 40));
  return { asked, found, ways: found.tried.map(({ mode, ok }) => `${mode} ${ok ? "works" : "fails"}`) };
}

test("the strictest mode is kept where it works, after one question of either kind", async () => {
  const { asked, found } = await probe(all("ok"));
  assert.deepEqual(asked, ["judge json_schema", "route json_schema"]);
  assert.deepEqual(found, {
    ok: true,
    mode: "json_schema",
    ms: 40,
    reason: "It answered as expected.",
    tried: [{ mode: "json_schema", ok: true, reason: "It answered in the shape that was asked for." }],
    state: "ok",
  });
});

test("modes that the server refuses are told, and the first that it takes is kept", async () => {
  const { found, ways } = await probe({ ...all("ok"), json_schema: "refuses", tool: "refuses" });
  assert.deepEqual(ways, ["json_schema fails", "tool fails", "json_object works"]);
  assert.equal(found.mode, "json_object");
  assert.equal(found.tried[0]!.reason, "The server does not take this.");
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
    assert.deepEqual(asked, ["judge json_schema"]);
    assert.deepEqual(
      [found.ok, found.mode, found.state, found.reason],
      [false, null, state, `It was ${state}.`],
    );
  });
}

test("a judge that answers in shape and misses the obvious works, and is not recommended", async () => {
  const { found } = await probe(all("misjudges"));
  assert.deepEqual([found.ok, found.mode, found.state], [false, "json_schema", "ok"]);
  assert.match(found.reason, /misjudged/);
});
