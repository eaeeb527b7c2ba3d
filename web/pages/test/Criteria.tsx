// The criteria of a semantic assertion: one to six yes-or-no questions about the reply, and what the strictness asks of them.
import { useEffect, useId, useRef } from "react";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { showToast } from "../../ui/Toast.tsx";
import { criteriaMax, splitCriteria } from "./criteria-text.ts";
import type { Doc } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { TextBlock } from "./fields.tsx";
import { RowTools } from "./RowTools.tsx";
import { thresholdText } from "./threshold.ts";

type Bound = { path: string; value: unknown; onValue: (value: unknown) => void };

/** `restsOn`: its field in the assertion, whose list keeps the order of the criteria. */
export function Criteria({ path, value, onValue, restsOn }: Bound & { restsOn: Bound }) {
  const id = useId();
  const list: unknown[] = Array.isArray(value) ? value : [value];
  const several = Array.isArray(value);
  const { fault, warning } = useFaultOf(path, { isEmpty: list.some(one => one === "") });
  const { group, goTo } = useFocus();
  // A single criterion is stored as a string, not as a list of one.
  const write = (rows: Row[]) => {
    const next = rows.map(({ criterion }) => criterion);
    onValue(next.length === 1 ? next[0] : next);
    if (Array.isArray(restsOn.value)) restsOn.onValue(rows.map(row => row.restsOn ?? null));
  };
  const rows = list.map(
    (criterion, at): Row => ({
      criterion,
      restsOn: Array.isArray(restsOn.value) ? restsOn.value[at] : null,
    }),
  );
  const offerUndo = useUndo(rows, write);
  const move = (at: number, by: -1 | 1) => {
    const to = at + by;
    if (to < 0 || to >= list.length) return;
    write(rows.with(at, rows[to]!).with(to, rows[at]!));
    goTo(to, by < 0 ? "up" : "down");
  };
  const split = (at: number, parts: string[]) => {
    write(rows.toSpliced(at, 1, ...parts.map(criterion => ({ criterion, restsOn: null }))));
    goTo(at, "text");
    offerUndo(parts, rows[at]!);
  };
  return (
    <fieldset className="criteria-fields" ref={group} aria-describedby={`${id}-hint`}>
      <legend>Criteria</legend>
      <div id={`${id}-hint`} className="field-hint">
        Yes-or-no questions about the reply. Up to {criteriaMax}, each judged separately.
      </div>
      <ol className="criteria-list">
        {list.map((criterion, at) => {
          const room = criteriaMax - list.length + 1;
          const parts = typeof criterion === "string" && room > 1 ? splitCriteria(criterion, room) : [];
          return (
            <li key={at} className="criteria-row" data-row={at}>
              <TextBlock
                label={list.length > 1 ? `Criterion ${at + 1}` : "Criterion"}
                path={several ? `${path}[${at}]` : path}
                rows={2}
                value={criterion}
                onValue={next => (several ? onValue(list.with(at, next)) : onValue(next))}
              />
              {list.length > 1 && (
                <RowTools
                  name={`criterion ${at + 1}`}
                  isFirst={at === 0}
                  isLast={at === list.length - 1}
                  onMove={by => move(at, by)}
                  onRemove={() => {
                    write(rows.toSpliced(at, 1));
                    goTo(Math.min(at, list.length - 2), "text");
                  }}
                />
              )}
              {parts.length > 1 && (
                <div className="line">
                  <Button small onClick={() => split(at, parts)}>
                    Split into {parts.length} criteria
                  </Button>
                </div>
              )}
            </li>
          );
        })}
      </ol>
      {several && <Fault id={`${id}-fault`} fault={fault} />}
      {several && !fault && warning && (
        <div className="field-warning">
          <Icon name="info" />
          <span>{warning}</span>
        </div>
      )}
      {list.length < criteriaMax && (
        <div className="line">
          <Button
            small
            icon="plus"
            onClick={() => {
              write([...rows, { criterion: "", restsOn: null }]);
              goTo(list.length, "text");
            }}
          >
            Add criterion
          </Button>
        </div>
      )}
    </fieldset>
  );
}

type Row = { criterion: unknown; restsOn: unknown };

/** A function that offers to rejoin the parts of a criterion that was split, as long as none of them has changed. */
function useUndo(rows: Row[], write: (rows: Row[]) => void) {
  const latest = useRef({ rows, write });
  const offer = useRef<{ parts: string[]; withdraw: () => void }>(undefined);
  useEffect(() => {
    latest.current = { rows, write };
    if (offer.current && placeOf(offer.current.parts, rows) < 0) offer.current.withdraw();
  });
  useEffect(() => () => offer.current?.withdraw(), []);
  return (parts: string[], whole: Row) => {
    offer.current?.withdraw();
    const withdraw = showToast(`Split into ${parts.length} criteria`, {
      label: "Undo",
      run() {
        const { rows, write } = latest.current;
        write(rows.toSpliced(placeOf(parts, rows), parts.length, whole));
      },
    });
    offer.current = { parts, withdraw };
  };
}

/** Where the parts of a split criterion follow each other unchanged; -1: nowhere. */
function placeOf(parts: string[], rows: Row[]): number {
  return rows.findIndex((_, first) =>
    parts.every((part, at) => rows[first + at]?.criterion === part && rows[first + at]?.restsOn === null),
  );
}

type Part = "text" | "up" | "down";

/** Moves the focus to a row once it is rendered at its new place. */
function useFocus() {
  const group = useRef<HTMLFieldSetElement>(null);
  const wanted = useRef<{ row: number; part: Part }>(undefined);
  useEffect(() => {
    if (!wanted.current) return;
    const { row, part } = wanted.current;
    wanted.current = undefined;
    const found = group.current?.querySelector(`[data-row="${row}"]`);
    found?.querySelector<HTMLElement>(part === "text" ? "textarea" : `[data-part=${part}]`)?.focus();
  });
  const goTo = (row: number, part: Part) => {
    wanted.current = { row, part };
  };
  return { group, goTo };
}

/** A sentence on what the strictness means here: the assertion's own, or the test's. */
export function StrictnessExplained({ assertion }: { assertion: Doc }) {
  const { threshold: ofTest } = useEditorContext();
  const isOwn = Object.hasOwn(assertion, "threshold");
  const threshold = isOwn ? assertion["threshold"] : ofTest;
  if (typeof threshold !== "number" || threshold < 0 || threshold > 1) return null;
  const count = [assertion["criteria"]].flat().length;
  if (count < 1) return null;
  return (
    <p className="field-hint criteria-words">
      {isOwn ? "" : "The test’s strictness, "}
      <strong>{threshold}</strong>: {thresholdText(threshold, count, assertion["negate"] === true)}
    </p>
  );
}
