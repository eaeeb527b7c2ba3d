// The form fields of a semantic assertion: criteria, what shows that they are met, reference reply and strictness.
import type { ReactNode } from "react";
import type { SemanticContext } from "../../../src/model/judge/material.ts";
import { contextHints, contextWords, defaultContext } from "../../judge-context.ts";
import { automaticChoice, restsOnWords } from "../../rests-on.ts";
import { Criteria, StrictnessExplained } from "./Criteria.tsx";
import type { Doc } from "./document.ts";
import { useEditorContext } from "./editor-context.ts";
import { NumberLine, SelectLine, TextBlock } from "./fields.tsx";

type Bound = { path: string; value: unknown; onValue: (value: unknown) => void };

type SemanticProps = {
  assertion: Doc;
  bound: (name: string) => Bound;
  /** The field of the spans to look at. */
  target: ReactNode;
};

export function SemanticFields({ assertion, bound, target }: SemanticProps) {
  return (
    <>
      <Criteria {...bound("criteria")} restsOn={bound("rests_on")} />
      <Context bound={bound("context")} />
      <ShownBy criteria={assertion["criteria"]} bound={bound("rests_on")} />
      <TextBlock
        label="Reference reply (optional)"
        rows={2}
        optional
        hint="An example of a good reply. The judge compares meaning, not wording."
        {...bound("reference")}
      />
      <div className="editor-pair">
        <NumberLine
          label="Strictness (optional)"
          min={0}
          max={1}
          step={0.05}
          hint="0 to 1. Defaults to the test’s strictness."
          {...bound("threshold")}
        />
        {target}
      </div>
      <StrictnessExplained assertion={assertion} />
    </>
  );
}

/** What the judge sees beside the user's input and the reply. */
function Context({ bound }: { bound: Bound }) {
  const { value } = bound;
  const chosen =
    typeof value === "string" && value in contextHints ? (value as SemanticContext) : defaultContext;
  return (
    <SelectLine
      label="The judge sees (optional)"
      none={`${contextWords[defaultContext]} (default)`}
      options={contextWords}
      hint={contextHints[chosen]}
      {...bound}
    />
  );
}

/** The automatic choice shows what the judge found; another one overrides it. */
function ShownBy({ criteria, bound }: { criteria: unknown; bound: Bound }) {
  const { option, details } = automaticChoice(criteria, useEditorContext().restsOn);
  return (
    <SelectLine
      label="Shown by (optional)"
      none={option}
      options={restsOnWords}
      hint={
        <>
          What in a reply shows that the criteria are met. One passage is enough; otherwise every part of a
          long reply must meet them.
          {details && bound.value === undefined && ` ${details}`}
        </>
      }
      {...bound}
    />
  );
}
