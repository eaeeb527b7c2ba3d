// Body templates: every template that can be saved can be filled by any turn, and becomes the intended JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BodyTooLarge,
  bodyCharsMax,
  fillTemplate,
  templateFault,
} from "../../../src/model/agent/body-template.ts";

const turn = {
  input: "Hello",
  history: [],
  conversationId: "conversation-1",
  requestId: "run-1",
  traceparent: "",
};

const sound = [
  '{"q": "{{input}}"}',
  '{"q": "{{ input }}, please"}',
  '"{{input}}"',
  '{"messages": "{{messages}}"}',
  '{"messages": "{{ messages }}"}',
  '{"q": "{{input}}", "before": "{{history}}", "id": "{{conversation_id}}-{{request_id}}"}',
  '["{{input}}", {"{{input}}": 1}]',
];
for (const template of sound) {
  test(`${template} can be saved`, () => assert.equal(templateFault(template), undefined));
}

const faulty: [template: string, fault: RegExp][] = [
  ["", /Add \{\{input\}\}/],
  ['{"q": "{{history}}"}', /Add \{\{input\}\}/],
  ["{{input}}", /Not valid JSON/],
  ['{"q": {{input}}}', /Not valid JSON/],
  ['{"q": "{{input}}",}', /Not valid JSON/],
  ['{"q": "{{inptu}}"}', /Unknown placeholder \{\{inptu\}\}\. Use \{\{input\}\}/],
  ['{"q": "{{input}}", "a": "{{}}"}', /Unknown placeholder \{\{\}\}/],
  ['{"q": "{{input}}", "a": "before: {{history}}"}', /as a whole value, "\{\{history\}\}"/],
  ['{"q": "{{input}}", "a": "all: {{ messages }}"}', /as a whole value/],
  ['{"q": "{{input}}", "{{history}}": 1}', /Not valid JSON/],
  ['{"q": "{{input}}", "a": "\\"{{history}}"}', /Not valid JSON/],
  ['{"q": "{{input}}", "a": t{{request_id}}ue}', /Not valid JSON/],
  ['{"q": "{{input}}", "a": "\\u000{{conversation_id}}"}', /Not valid JSON/],
];
for (const [template, fault] of faulty) {
  test(`${template || "an empty template"} is refused`, () => assert.match(templateFault(template)!, fault));
}

test("any text is inserted unchanged, and placeholders in it are not replaced", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constant('"{{history}}" {{input}} {{request_id}} \\'),
  );
  fc.assert(
    fc.property(text, text, (input, said) => {
      const history = [{ role: "user" as const, content: said }];
      const filled = fillTemplate('{"a": "<{{input}}>", "b": "{{history}}", "c": "{{messages}}"}', {
        ...turn,
        input,
        history,
      });
      assert.deepEqual(JSON.parse(filled), {
        a: `<${input}>`,
        b: history,
        c: [...history, { role: "user", content: input }],
      });
    }),
  );
});

test("text that is not a placeholder stays unchanged", () => {
  const filled = fillTemplate('{"n": 12345678901234567890.10, "n": 1e400, "q": "{{input}}"}', turn);
  assert.equal(filled, '{"n": 12345678901234567890.10, "n": 1e400, "q": "Hello"}');
});

test("unclosed placeholders are recognized in linear time", () => {
  // In quadratic time, one of these would keep the test busy for days.
  for (const unended of [" ", "\n", "input ", '"{{ '].map(part => `{{${part.repeat(100_000)}`)) {
    const template = `{"q": "{{input}}", "a": ${JSON.stringify(unended)}}`;
    assert.equal(templateFault(template), undefined);
    assert.deepEqual(JSON.parse(fillTemplate(template, turn)), { q: "Hello", a: unended });
  }
});

test("a body that would become too long is not built", () => {
  const template = `["{{input}}"${', "{{history}}"'.repeat(7_000)}]`;
  assert.equal(templateFault(template), undefined);
  const history = [{ role: "assistant" as const, content: "x".repeat(1_000_000) }];
  assert.throws(() => fillTemplate(template, { ...turn, history }), BodyTooLarge);
  const input = "x".repeat(bodyCharsMax - 4);
  assert.equal(fillTemplate('"{{input}}"', { ...turn, input: input.slice(9) }).length, bodyCharsMax - 11);
  assert.throws(() => fillTemplate('"{{input}}"', { ...turn, input }), BodyTooLarge);
});
