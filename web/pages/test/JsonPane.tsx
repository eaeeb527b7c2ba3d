// The document as JSON text: edited as text, with its lines numbered and every fault a way to its place.
import { memo, type RefObject, useDeferredValue, useId, useMemo, useState } from "react";
import type { Issue } from "../../../src/model/refusal.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { Copy } from "../../ui/Copy.tsx";
import { Fault } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import type { Change, Editing } from "./document.ts";
import { IssueList } from "./IssueList.tsx";
import { placeOf, positionOf } from "./json-text.ts";

const longMin = 10_000;

type JsonPaneProps = {
  editing: Editing;
  issues: Issue[];
  warnings: Issue[];
  change: (change: Change) => void;
  area: RefObject<HTMLTextAreaElement | null>;
};

export function JsonPane({ editing, issues, warnings, change, area }: JsonPaneProps) {
  const [isHere, setHere] = useState(false);
  const late = useDeferredValue(editing);
  // A long text takes its time to lay out: what is typed in the form does not wait for it.
  const { text, fault } = isHere || editing.text.length < longMin ? editing : late;
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
            {fault ? "Back to the form’s document" : "Format"}
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
          aria-label="The test case as JSON"
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${id}-fault ${id}-hint` : `${id}-hint`}
          spellCheck={false}
          wrap="off"
          rows={lines}
          value={text}
          onFocus={() => setHere(true)}
          onBlur={() => setHere(false)}
          onChange={({ target }) => change({ kind: "text", text: target.value })}
        />
      </div>
      <div className="editor-news" aria-live="polite">
        {fault && (
          <div className="stack-tight">
            <Fault
              id={`${id}-fault`}
              fault={`Line ${fault.line}, column ${fault.column}: ${fault.message} The form stays as it was.`}
            />
            <div>
              <Button
                small
                onClick={() => area.current && selectRange(area.current, fault.offset, fault.offset)}
              >
                Go there
              </Button>
            </div>
          </div>
        )}
      </div>
      {!fault && <Places list={issues} noun="fault" onGo={go} />}
      {!fault && <Places list={warnings} noun="remark" onGo={go} />}
      <p id={`${id}-hint`} className="field-hint">
        Tab leaves the text and Shift + Tab goes back; Format indents it.
      </p>
    </section>
  );
}

type LinesProps = { lines: number; bad: number | undefined };

/** Three texts, however many lines there are. */
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

type PlacesProps = { list: Issue[]; noun: "fault" | "remark"; onGo: (path: string) => void };

function Places({ list, noun, onGo }: PlacesProps) {
  if (list.length === 0) return null;
  return (
    <div className="stack-tight">
      <h3 className={noun === "fault" ? "editor-bad" : "quiet"}>
        <Icon name={noun === "fault" ? "warning" : "info"} /> {counted(list.length, noun)}
      </h3>
      <IssueList issues={list} onGo={onGo} />
    </div>
  );
}

/** Selects what stands at a path of the document, and shows it. */
export function selectPlace(area: HTMLTextAreaElement, text: string, path: string): void {
  const { start, end } = placeOf(text, path);
  selectRange(area, start, end);
}

function selectRange(area: HTMLTextAreaElement, start: number, end: number): void {
  area.focus({ preventScroll: true });
  area.setSelectionRange(start, end);
  const lines = area.value.split("\n").length;
  const box = area.parentElement!;
  const { line } = positionOf(area.value, start);
  box.scrollTop = (line / lines) * area.clientHeight - box.clientHeight / 2;
  box.scrollIntoView({ block: "nearest" });
}
