// The test case as JSON text, editable, with line numbers and links to every error.
import { memo, type RefObject, useId, useMemo } from "react";
import type { Issue } from "../../../src/model/refusal.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Fault } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { type Change, type Editing, textOf } from "./document.ts";
import { IssueList } from "./IssueList.tsx";
import { placeOf, positionOf } from "./json-text.ts";

type JsonPaneProps = {
  editing: Editing;
  issues: Issue[];
  warnings: Issue[];
  change: (change: Change) => void;
  area: RefObject<HTMLTextAreaElement | null>;
};

export function JsonPane({ editing, issues, warnings, change, area }: JsonPaneProps) {
  const { typed, document, fault } = editing;
  const text = useMemo(() => textOf({ typed, document }), [typed, document]);
  const id = useId();
  const lines = useMemo(() => text.split("\n").length, [text]);
  const go = (path: string) => {
    if (area.current) selectPlace(area.current, text, path);
  };
  return (
    <section className="card stack editor-json" aria-labelledby={`${id}-heading`}>
      <div className="line line-apart">
        <h2 id={`${id}-heading`}>JSON</h2>
        <div className="line">
          <Button onClick={() => change({ kind: "format" })}>
            {fault ? "Restore last valid version" : "Format"}
          </Button>
          <Copy text={text}>Copy</Copy>
        </div>
      </div>
      <div className="editor-code">
        <div className="editor-lines mono" aria-hidden="true">
          <Lines lines={lines} bad={fault?.line} />
        </div>
        <textarea
          ref={area}
          className="mono"
          aria-label="Test case JSON"
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${id}-fault ${id}-hint` : `${id}-hint`}
          spellCheck={false}
          wrap="off"
          rows={lines}
          value={text}
          onChange={({ target }) => change({ kind: "text", text: target.value })}
        />
      </div>
      <div className="editor-news" aria-live="polite">
        {fault && (
          <div className="stack-tight">
            <Fault
              id={`${id}-fault`}
              fault={`Line ${fault.line}, column ${fault.column}: ${fault.message} The form keeps the last valid version.`}
            />
            <div>
              <Button
                small
                onClick={() => area.current && selectRange(area.current, fault.offset, fault.offset)}
              >
                Go to error
              </Button>
            </div>
          </div>
        )}
      </div>
      {!fault && <IssueSection list={issues} noun="error" onGo={go} />}
      {!fault && <IssueSection list={warnings} noun="warning" onGo={go} />}
      <p id={`${id}-hint`} className="field-hint">
        Tab moves to the next field, Shift + Tab to the previous one. Format indents the JSON.
      </p>
    </section>
  );
}

type LinesProps = { lines: number; bad: number | undefined };

/** At most three text nodes, however many lines there are. */
const Lines = memo(function Lines({ lines, bad = 0 }: LinesProps) {
  const numbers = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => `${from + at}\n`).join("");
  return (
    <>
      {numbers(1, bad - 1)}
      {bad > 0 && <strong data-bad="">{`${bad}\n`}</strong>}
      {numbers(bad + 1, lines)}
    </>
  );
});

type IssueSectionProps = { list: Issue[]; noun: "error" | "warning"; onGo: (path: string) => void };

function IssueSection({ list, noun, onGo }: IssueSectionProps) {
  if (list.length === 0) return null;
  return (
    <div className="stack-tight">
      <h3 className={noun === "error" ? "editor-bad" : "quiet"}>
        <Icon name={noun === "error" ? "warning" : "info"} /> {counted(list.length, noun)}
      </h3>
      <IssueList issues={list} onGo={onGo} />
    </div>
  );
}

/** Selects the value at a path of the document and scrolls to it. */
export function selectPlace(area: HTMLTextAreaElement, text: string, path: string): void {
  const { start, end } = placeOf(text, path);
  selectRange(area, start, end);
}

function selectRange(area: HTMLTextAreaElement, start: number, end: number): void {
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, end);
  const lines = area.value.split("\n").length;
  const { line } = positionOf(area.value, start);
  const { top, height } = area.getBoundingClientRect();
  scrollBy({ top: top + (line / lines) * height - innerHeight / 2 });
}
