// The form fields of each assertion type, with suggestions from the agent's latest traces.
import type { ReactNode } from "react";
import type { Term } from "../../../src/http/test-cases/editor-schemas.ts";
import type { AssertionType } from "../../../src/model/test-case/assertion.ts";
import { attributeKeys, attributesOf, spanNames, toolNames } from "../../completions.ts";
import { isRecord } from "../../record.ts";
import type { Doc } from "./document.ts";
import { useEditorContext } from "./editor-context.ts";
import { CompletedLine, JsonBlock, NumberLine, SelectLine, StatusLine, TextLine } from "./fields.tsx";
import { readText } from "./json-text.ts";
import { SemanticFields } from "./SemanticFields.tsx";

type FieldsProps = {
  assertion: Doc;
  type: AssertionType;
  path: string;
  onField: (name: string, value: unknown) => void;
};

export function AssertionFields({ assertion, type, path, onField }: FieldsProps) {
  const { vocabulary } = useEditorContext();
  const isNegated = assertion["negate"] === true;
  const bound = (name: string) => ({
    path: `${path}.${name}`,
    value: assertion[name],
    onValue: (value: unknown) => onField(name, value),
  });
  const range = (
    <div className="editor-pair">
      <NumberLine label="At least" min={0} placeholder="1" {...bound("min")} />
      <NumberLine label="At most" min={0} placeholder="No limit" {...bound("max")} />
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
  const matching = (
    <SelectLine
      label="Spans that match"
      none={`${(isNegated ? negatedWords : matchWords)[defaultMatch(type, isNegated)]} (default)`}
      options={isNegated ? negatedWords : matchWords}
      {...bound("match")}
    />
  );
  const attribute = (
    <div className="editor-pair">
      {target("Span", "Part of the span name, case-insensitive.", false)}
      <CompletedLine
        label="Attribute"
        hint="The full attribute key as sent, dots included."
        mono
        completions={attributeKeys(vocabulary, assertion["target_node"])}
        {...bound("field")}
      />
    </div>
  );
  const textTarget = (
    <>
      {target("Span (optional)", "Part of the span name. If empty, the reply is checked.", true)}
      {(assertion["target_node"] !== undefined || assertion["match"] !== undefined) && matching}
    </>
  );

  switch (type) {
    case "node_call":
      return (
        <>
          <CompletedLine label="Step name" completions={spanNames(vocabulary)} {...bound("expected_name")} />
          {range}
        </>
      );
    case "tool_call":
      return (
        <>
          <CompletedLine
            label="Tool name"
            hint="Exact match."
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
          <NumberLine label="Max total" min={0} {...bound("max_total")} />
          <NumberLine label="Max input" min={0} {...bound("max_input")} />
          <NumberLine label="Max output" min={0} {...bound("max_output")} />
          <NumberLine label="Max reasoning" min={0} {...bound("max_reasoning")} />
        </div>
      );
    case "http_status":
      return (
        <StatusLine
          label="Status"
          hint="For example 200, or 200, 201, or 2xx."
          {...bound("expected_status")}
        />
      );
    case "response_time":
      return <NumberLine label="Max milliseconds" min={0} step="any" {...bound("max_ms")} />;
    case "response_regex":
      return (
        <>
          <div className="editor-pair editor-pair-long">
            <TextLine
              label="Pattern"
              hint="Linear-time syntax: no lookaround, no backreferences."
              {...bound("pattern")}
            />
            <TextLine label="Flags" hint="i, m, s" optional {...bound("flags")} />
          </div>
          {textTarget}
        </>
      );
    case "semantic":
      return <SemanticFields assertion={assertion} bound={bound} target={textTarget} />;
    case "json_match":
      return (
        <>
          {attribute}
          {matching}
          <JsonBlock
            label="Value (JSON)"
            rows={1}
            hint="Put text in double quotes."
            {...bound("expected_value")}
          />
          <SampleValues
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
          {matching}
          <JsonBlock label="JSON schema" rows={4} {...bound("schema")} />
        </>
      );
  }
}

/** How many of the spans must match. */
const matchWords = { any: "At least one", all: "All" };
const negatedWords = { any: "None", all: "Not all" };

function defaultMatch(type: AssertionType, isNegated: boolean): "any" | "all" {
  return isNegated || type === "response_regex" || type === "json_match" ? "any" : "all";
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
        label="Arguments (JSON, optional)"
        rows={1}
        hint={
          <>
            A value can be a rule: <code>{'{"$regex": "^A-"}'}</code>, <code>$in</code>, <code>$gt</code>,{" "}
            <code>$gte</code>, <code>$lt</code>, <code>$lte</code>, <code>$exists</code>. To match an object
            with such keys: <code>{'{"$literal": {…}}'}</code>.
          </>
        }
        {...bound}
      />
      <SampleValues
        terms={(tool?.arguments ?? []).filter(({ key }) => !Object.hasOwn(wanted, key))}
        label={(key, sample) => `${key}: ${JSON.stringify(sample)}`}
        onChoose={(key, sample) =>
          bound.onValue(Object.fromEntries([...Object.entries(wanted), [key, sample ?? null]]))
        }
        onePerKey
      />
      {bound.value !== undefined && (
        <label className="choice">
          <input
            type="checkbox"
            checked={mode === "exact"}
            onChange={({ target }) => onField("arguments_mode", target.checked ? "exact" : "partial")}
          />
          <span>Allow no other arguments</span>
        </label>
      )}
    </>
  );
}

type SampleValuesProps = {
  terms: Term[];
  label: (key: string, sample: unknown) => string;
  onChoose: (key: string, sample: unknown) => void;
  onePerKey?: boolean;
};

/** Buttons with values from traces; pressing one inserts its value. */
function SampleValues({ terms, label, onChoose, onePerKey = false }: SampleValuesProps): ReactNode {
  const examples = terms.flatMap(({ key, samples }) => {
    const complete = samples
      .filter(sample => !isTruncated(sample))
      .map(sample => ({ key, sample: parsedSample(sample) }));
    return onePerKey ? complete.slice(0, 1) : complete;
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

/** A truncated sample equals no value in any trace. */
function isTruncated(sample: unknown): boolean {
  return typeof sample === "string" && sample.endsWith("…");
}

/** A list or object that was sent as JSON text is compared as JSON, so it is inserted as JSON. */
function parsedSample(sample: unknown): unknown {
  if (typeof sample !== "string" || !/^\s*[[{]/.test(sample)) return sample;
  const read = readText(sample);
  return read.ok ? read.value : sample;
}
