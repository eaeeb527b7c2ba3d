// What each type of assertion asks for, completed with what the agent's traces were seen to hold.

import type { ReactNode } from "react";
import type { Term, Vocabulary } from "../../../src/http/test-cases/editor-schemas.ts";
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { counted } from "../../labels.ts";
import type { Completion } from "../../ui/Combobox.tsx";
import { Criteria, ThresholdWords } from "./Criteria.tsx";
import { type Doc, isRecord } from "./document.ts";
import { useEditorContext } from "./editor-context.ts";
import { CompletedLine, JsonBlock, NumberLine, StatusLine, TextBlock, TextLine } from "./fields.tsx";
import { readText } from "./json-text.ts";

type FieldsProps = {
  assertion: Doc;
  type: AssertionType;
  path: string;
  onField: (name: string, value: unknown) => void;
};

export function AssertionFields({ assertion, type, path, onField }: FieldsProps) {
  const { vocabulary } = useEditorContext();
  const bound = (name: string) => ({
    path: `${path}.${name}`,
    value: assertion[name],
    onValue: (value: unknown) => onField(name, value),
  });
  const range = (
    <div className="editor-pair">
      <NumberLine label="At least" min={0} placeholder="1" {...bound("min")} />
      <NumberLine label="At most" min={0} placeholder="Any number" {...bound("max")} />
    </div>
  );
  const target = (label: string, hint: string, optional: boolean) => (
    <CompletedLine
      label={label}
      hint={hint}
      optional={optional}
      completions={spanNames(vocabulary)}
      {...bound("target_node")}
    />
  );
  const attribute = (
    <div className="editor-pair">
      {target("Span", "Part of its name; capitals do not matter.", false)}
      <CompletedLine
        label="Attribute"
        hint="The whole key, as it was sent: dots are part of it."
        mono
        completions={attributesOf(vocabulary, assertion["target_node"]).map(termCompletion)}
        {...bound("field")}
      />
    </div>
  );
  const textTarget = target("In the span (optional)", "Part of its name; without it, the reply.", true);

  switch (type) {
    case "node_call":
      return (
        <>
          <CompletedLine
            label="Name of the step"
            completions={spanNames(vocabulary)}
            {...bound("expected_name")}
          />
          {range}
        </>
      );
    case "tool_call":
      return (
        <>
          <CompletedLine
            label="Name of the tool"
            hint="Compared exactly."
            mono
            completions={toolNames(vocabulary)}
            {...bound("expected_name")}
          />
          <ArgumentsField assertion={assertion} bound={bound("expected_arguments")} onField={onField} />
          {range}
        </>
      );
    case "token_limit":
      return (
        <div className="editor-pair">
          <NumberLine label="At most in all" min={0} {...bound("max_total")} />
          <NumberLine label="Input" min={0} {...bound("max_input")} />
          <NumberLine label="Output" min={0} {...bound("max_output")} />
          <NumberLine label="Reasoning" min={0} {...bound("max_reasoning")} />
        </div>
      );
    case "http_status":
      return (
        <StatusLine label="Status" hint="200, or 200, 201, or a class: 2xx." {...bound("expected_status")} />
      );
    case "response_time":
      return <NumberLine label="Milliseconds" min={0} step="any" {...bound("max_ms")} />;
    case "response_regex":
      return (
        <>
          <div className="editor-pair editor-pair-long">
            <TextLine
              label="Pattern"
              hint="Linear-time: no look-around, no back-references."
              {...bound("pattern")}
            />
            <TextLine label="Flags" hint="i, m, s" optional {...bound("flags")} />
          </div>
          {textTarget}
        </>
      );
    case "semantic":
      return (
        <>
          <Criteria {...bound("criteria")} />
          <TextBlock
            label="A good reply (optional)"
            rows={2}
            optional
            hint="What a good reply says: the judge compares meaning, not words."
            {...bound("reference")}
          />
          <div className="editor-pair">
            <NumberLine
              label="Threshold (optional)"
              min={0}
              max={1}
              step={0.05}
              hint="0 to 1; without it, the test’s strictness."
              {...bound("threshold")}
            />
            {textTarget}
          </div>
          <ThresholdWords assertion={assertion} />
        </>
      );
    case "json_match":
      return (
        <>
          {attribute}
          <JsonBlock
            label="Value, as JSON"
            rows={1}
            hint="A text stands in double quotes."
            {...bound("expected_value")}
          />
          <Seen
            terms={attributesOf(vocabulary, assertion["target_node"]).filter(
              ({ key }) => key === assertion["field"],
            )}
            label={(_, sample) => JSON.stringify(sample)}
            onChoose={(_, sample) => onField("expected_value", sample)}
          />
        </>
      );
    case "json_schema":
      return (
        <>
          {attribute}
          <JsonBlock label="JSON schema" rows={4} {...bound("schema")} />
        </>
      );
  }
}

type ArgumentsProps = {
  assertion: Doc;
  bound: { path: string; value: unknown; onValue: (value: unknown) => void };
  onField: FieldsProps["onField"];
};

function ArgumentsField({ assertion, bound, onField }: ArgumentsProps) {
  const { vocabulary } = useEditorContext();
  const wanted = isRecord(bound.value) ? bound.value : {};
  const tool = vocabulary?.tools.find(({ name }) => name === assertion["expected_name"]);
  const mode = assertion["arguments_mode"] ?? "partial";
  return (
    <>
      <JsonBlock
        label="Arguments, as JSON (optional)"
        rows={1}
        hint={
          <>
            A value may be a rule: <code>{'{"$regex": "^A-"}'}</code>, <code>$in</code>, <code>$gt</code>,{" "}
            <code>$gte</code>, <code>$lt</code>, <code>$lte</code>, <code>$exists</code>.
          </>
        }
        {...bound}
      />
      <Seen
        terms={(tool?.arguments ?? []).filter(({ key }) => !Object.hasOwn(wanted, key))}
        label={(key, sample) => `${key}: ${JSON.stringify(sample)}`}
        onChoose={(key, sample) =>
          bound.onValue(Object.fromEntries([...Object.entries(wanted), [key, sample ?? null]]))
        }
        one
      />
      {bound.value !== undefined && (
        <label className="choice">
          <input
            type="checkbox"
            checked={mode === "exact"}
            onChange={({ target }) => onField("arguments_mode", target.checked ? "exact" : "partial")}
          />
          <span>No other arguments are allowed</span>
        </label>
      )}
    </>
  );
}

type SeenProps = {
  terms: Term[];
  label: (key: string, sample: unknown) => string;
  onChoose: (key: string, sample: unknown) => void;
  /** One example of each key is enough. */
  one?: boolean;
};

/** Values out of traces, to be taken over by a press. */
function Seen({ terms, label, onChoose, one = false }: SeenProps): ReactNode {
  const examples = terms.flatMap(({ key, samples }) => {
    const whole = samples.filter(sample => !isCut(sample)).map(sample => ({ key, sample: meantBy(sample) }));
    return one ? whole.slice(0, 1) : whole;
  });
  if (examples.length === 0) return null;
  return (
    <div className="line editor-seen">
      <span className="quiet small">Seen in traces:</span>
      {examples.slice(0, 12).map(({ key, sample }) => {
        const text = label(key, sample);
        return (
          <button
            key={text}
            type="button"
            className="button button-small mono editor-sample"
            onClick={() => onChoose(key, sample)}
          >
            {text}
          </button>
        );
      })}
    </div>
  );
}

/** Shortened, it is no value that a trace holds. */
function isCut(sample: unknown): boolean {
  return typeof sample === "string" && sample.endsWith("…");
}

/** A list or an object that was sent as JSON text is compared as what it says. */
function meantBy(sample: unknown): unknown {
  if (typeof sample !== "string" || !/^\s*[[{]/.test(sample)) return sample;
  const read = readText(sample);
  return read.ok ? read.value : sample;
}

function spanNames(vocabulary: Vocabulary | undefined): Completion[] {
  return (vocabulary?.spans ?? []).map(({ name, count }) => ({ value: name, note: counted(count, "span") }));
}

function toolNames(vocabulary: Vocabulary | undefined): Completion[] {
  return (vocabulary?.tools ?? []).map(({ name, count }) => ({ value: name, note: counted(count, "call") }));
}

/** Of the spans that the target means, or of all where it means none; each key once. */
function attributesOf(vocabulary: Vocabulary | undefined, target: unknown): Term[] {
  const spans = vocabulary?.spans ?? [];
  const sought = typeof target === "string" ? target.toLowerCase() : "";
  const meant = spans.filter(({ name }) => name.toLowerCase().includes(sought));
  const terms = new Map<string, Term>();
  for (const term of (meant.length > 0 ? meant : spans).flatMap(({ attributes }) => attributes)) {
    if (!terms.has(term.key)) terms.set(term.key, term);
  }
  return [...terms.values()];
}

function termCompletion({ key, samples }: Term): Completion {
  const [sample] = samples;
  return { value: key, note: sample === undefined ? undefined : JSON.stringify(sample) };
}
