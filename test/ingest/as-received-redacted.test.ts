// A request for a project with privacy rules is stored as it arrived exactly if the rules find nothing in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceAsReceived, isAsReceived } from "../../fuzz/as-received.ts";
import { Mutants } from "../../fuzz/mutant.ts";
import { prepareBatch, prepareBody } from "../../src/ingest/prepare.ts";
import type { PreparedBatch } from "../../src/ingest/prepared.ts";
import type { Readers } from "../../src/ingest/readers.ts";
import { readByNothing } from "../../src/model/agent/read-by.ts";
import type { StoringRules } from "../../src/model/privacy.ts";
import { readBatch, scan } from "../../src/wire/batch.ts";
import { decodeBody } from "../../src/wire/body.ts";
import { decodeLimits } from "../../src/wire/limits.ts";
import type { MediaType } from "../../src/wire/media-type.ts";
import { encodings, exportedSpan, exportOf } from "../support/bodies.ts";
import { canaries, canaryRules } from "../support/canaries.ts";
import { recordedExports } from "../support/recorded-exports.ts";

const storing: StoringRules = { projectId: "p", revision: 1, rules: canaryRules, pseudonymKey: "key" };
const readersOf = (more: Partial<Readers> = {}): Readers => ({ agents: [], only: null, storing, ...more });
const formats = ["json", "protobuf"] as const;
/** Without own rules, most texts are looked at as bytes only. */
const builtInOnly: StoringRules = { ...storing, projectId: "q", rules: { ...canaryRules, rules: [] } };

function batchOf(body: Buffer, mediaType: MediaType, readers: Readers | null = readersOf()): PreparedBatch {
  const prepared = prepareBody(body, mediaType, decodeLimits, readers);
  assert.ok(prepared.path === "otlp");
  const [group] = prepared.groups;
  assert.ok(group && "batch" in group);
  return group.batch;
}

/** The same request decoded and redacted as a whole. */
function redactedWhole(body: Buffer, mediaType: MediaType, by = storing): PreparedBatch {
  const whole = decodeBody(body, mediaType, decodeLimits);
  assert.ok(whole.path === "otlp");
  return prepareBatch(whole.groups[0]!.batch, "otlp", readByNothing, by);
}

test("what exporters sent is stored as it arrived exactly if the rules find nothing", () => {
  for (const by of [storing, builtInOnly]) {
    const counts = { received: 0, redacted: 0 };
    for (const { path, mediaType, body } of recordedExports) {
      const prepared = prepareBody(body, mediaType, decodeLimits);
      const [group] = prepared.path === "otlp" ? prepared.groups : [];
      if (!group || "refusal" in group || !isAsReceived(group.batch)) continue;
      const batch = batchOf(body, mediaType, readersOf({ storing: by }));
      const whole = redactedWhole(body, mediaType, by);
      assert.equal(isAsReceived(batch), whole.redactions === undefined, path);
      assert.deepEqual(batch.redactions, whole.redactions, path);
      assert.deepEqual(batch.columns, whole.columns, path);
      counts[isAsReceived(batch) ? "received" : "redacted"]++;
    }
    assert.ok(counts.received > 20 && counts.redacted > 20, JSON.stringify(counts));
  }
});

test("so are mutants of it, which read the same", () => {
  const mutants = new Mutants();
  let received = 0;
  for (const format of formats) {
    for (let number = 0; number < 2_000; number++) {
      const { body, endpoint, from } = mutants.make(format === "json" ? "otlp-json" : "protobuf", 8, number);
      if (endpoint !== "traces") continue;
      const by = number % 2 === 0 ? storing : builtInOnly;
      try {
        const difference = differenceAsReceived(body, format, readersOf({ storing: by }));
        if (difference === undefined) continue;
        received++;
        assert.equal(difference, null, `${from}, mutant ${number}`);
      } catch (error) {
        if ((error as { name?: string }).name !== "Refusal") throw error;
      }
    }
  }
  assert.ok(received > 20, `${received}`);
});

type Fields = Record<string, unknown>;
const attribute = (key: string, value: object) => ({ key, value });
const text = (key: string, stringValue: string) => attribute(key, { stringValue });
const { said } = canaries[0]!;

/** By what they say: a request with a text in that place. */
const places: Record<string, (said: string) => object> = {
  "an attribute": said => exportOf([exportedSpan({ attributes: [text("a", said)] })]),
  "an attribute that columns are derived from": said =>
    exportOf([exportedSpan({ attributes: [text("gen_ai.prompt", said)] })]),
  "JSON in an attribute": said =>
    exportOf([
      exportedSpan({
        attributes: [text("gen_ai.input.messages", JSON.stringify([{ role: "user", content: said }]))],
      }),
    ]),
  "a list": said =>
    exportOf([
      exportedSpan({ attributes: [attribute("a", { arrayValue: { values: [{ stringValue: said }] } })] }),
    ]),
  "a map": said =>
    exportOf([
      exportedSpan({ attributes: [attribute("a", { kvlistValue: { values: [text("b", said)] } })] }),
    ]),
  "an event": said =>
    exportOf([exportedSpan({ events: [{ name: "e", timeUnixNano: "1", attributes: [text("a", said)] }] })]),
  "a link": said => exportOf([exportedSpan({ links: [link({ attributes: [text("a", said)] })] })]),
  "the state of a link's trace": said => exportOf([exportedSpan({ links: [link({ traceState: said })] })]),
  "the state of a trace": said => exportOf([exportedSpan({ traceState: said })]),
  "the message of a status": said => exportOf([exportedSpan({ status: { code: 2, message: said } })]),
  "the resource": said => withShared({ attributes: [text("service.name", "agent"), text("a", said)] }, {}),
  "a scope": said => withShared(agent, { scope: { name: "s", attributes: [text("a", said)] } }),
};

/** Places in which nothing is redacted. */
const keptPlaces: Record<string, (said: string) => object> = {
  "the service's name": said => exportOf([exportedSpan()], said),
  "a key": said => exportOf([exportedSpan({ attributes: [text(said, "a")] })]),
  "the name of a span": said => exportOf([exportedSpan({ name: said })]),
  "the name of an event": said =>
    exportOf([exportedSpan({ events: [{ name: said, timeUnixNano: "1", attributes: [] }] })]),
  "the name of a scope": said => withShared(agent, { scope: { name: said, version: said } }),
  "the URL of a schema": said => withShared(agent, { schemaUrl: said }),
};

const agent = { attributes: [text("service.name", "agent")] };
function withShared(resource: Fields, more: Fields): object {
  return { resourceSpans: [{ resource, scopeSpans: [{ ...more, spans: [exportedSpan()] }] }] };
}
function link(more: Fields): Fields {
  return { traceId: "1bf7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", ...more };
}

for (const format of formats) {
  test(`a value that a rule finds is redacted, wherever it is in a request in ${format}`, () => {
    for (const [place, make] of Object.entries(places)) {
      const clean = encodings[format](make("nothing")).body;
      assert.equal(isAsReceived(batchOf(clean, format)), true, place);
      const { body } = encodings[format](make(said));
      const batch = batchOf(body, format);
      assert.equal(isAsReceived(batch), false, place);
      assert.deepEqual(batch.redactions, redactedWhole(body, format).redactions, place);
      const [shown, stored] = [JSON.stringify(readBatch(scan(batch.bytes))), said.split(" ")[2]!];
      assert.ok(!shown.includes(stored), place);
      const typed = encodings[format](make("⟦email⟧")).body;
      const escaped = Buffer.from(typed.toString().replaceAll("⟦", "\\u27E6"));
      for (const arrived of format === "json" ? [typed, escaped] : [typed]) {
        const { bytes } = batchOf(arrived, format, readersOf({ storing: builtInOnly }));
        const kept = JSON.stringify(readBatch(scan(bytes)));
        assert.ok(kept.includes("[email]") && !kept.includes("⟦"), place);
      }
    }
    for (const [place, make] of Object.entries(keptPlaces)) {
      const { body } = encodings[format](make(said));
      assert.equal(differenceAsReceived(body, format, readersOf()), null, place);
    }
  });

  test(`so is one of each kind in ${format}, and ids become pseudonyms`, () => {
    for (const { kind, said, found } of canaries) {
      const { body } = encodings[format](exportOf([exportedSpan({ attributes: [text("a", said)] })]));
      for (const by of kind === "own rule" ? [storing] : [storing, builtInOnly]) {
        const batch = batchOf(body, format, readersOf({ storing: by }));
        assert.ok(!JSON.stringify(readBatch(scan(batch.bytes))).includes(found), kind);
      }
    }
    const ids = [
      text("user.id", "jane@example.com"),
      attribute("customer.number", { intValue: "4711" }),
      attribute("customer.number", { arrayValue: { values: [{ stringValue: "c-1" }] } }),
      text("metadata", JSON.stringify({ user_id: "jane@example.com" })),
      text("db.password", "abc12345xyz"),
    ];
    for (const one of ids) {
      const { body } = encodings[format](exportOf([exportedSpan({ attributes: [one] })]));
      for (const by of [storing, builtInOnly]) {
        const batch = batchOf(body, format, readersOf({ storing: by }));
        assert.equal(isAsReceived(batch), false, JSON.stringify(one));
        assert.deepEqual(batch.redactions, redactedWhole(body, format, by).redactions, JSON.stringify(one));
      }
    }
  });

  test(`a request in ${format} in which nothing is found has the same bytes with and without rules`, () => {
    const { body } = encodings[format](exportOf([exportedSpan({ attributes: [text("a", "nothing")] })]));
    const [before, after] = [batchOf(body, format, null), batchOf(body, format)];
    assert.deepEqual(after.bytes, before.bytes);
    assert.equal(after.redactions, undefined);
  });

  test(`what any agent of the request reads as an id is looked at as an id in ${format}`, () => {
    const { body } = encodings[format](
      exportOf([exportedSpan({ attributes: [text("my.user", '"jane@example.com"')] })], "agent"),
    );
    const by = (serviceName: string) => ({
      ...{ agentId: serviceName, serviceName, conventions: [] },
      conventionRules: [{ from: "my.user", to: "user.id" as const }],
    });
    for (const name of ["agent", "another"]) {
      const batch = batchOf(body, format, readersOf({ agents: [by(name)] }));
      assert.equal(isAsReceived(batch), false, name);
      const stored = readBatch(scan(batch.bytes)).spans[0]!.attributes["my.user"];
      assert.match(stored as string, name === "agent" ? /^"p_[\w-]{22}"$/ : /^"⟦email⟧"$/);
    }
  });

  test(`a key that cannot be opened refuses a request in ${format} only if it needs a pseudonym`, () => {
    const readers = readersOf({ storing: { ...storing, revision: 2, pseudonymKey: null } });
    const of = (...attributes: object[]) => encodings[format](exportOf([exportedSpan({ attributes })])).body;
    assert.equal(isAsReceived(batchOf(of(text("a", "nothing")), format, readers)), true);
    assert.throws(() => batchOf(of(attribute("customer.number", { intValue: "4711" })), format, readers), {
      code: "UNAVAILABLE",
    });
  });
}
