// JSON viewer: a foldable tree with search, keyboard navigation, and copying of values and paths.
import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { printExact, textOfValue } from "../exact-json.ts";
import { numberText } from "../format.ts";
import { pathText, type ValuePath } from "../value-path.ts";
import { Button } from "./Button.tsx";
import { copyText } from "./copy-text.ts";
import { FindField } from "./FindField.tsx";
import { Icon } from "./Icon.tsx";
import { findRows, isLongText, type JsonRow, jsonRows } from "./json-rows.ts";
import { LongText } from "./LongText.tsx";
import { TraceText } from "./TraceText.tsx";

export type JsonTreeProps = {
  /** A list, an object, or the text of one. */
  value: unknown;
  /** The name of the value: "gen_ai.input.messages". Copied paths start with it. */
  label: string;
  /** Further actions for the selected value. */
  actions?: (path: ValuePath) => ReactNode;
};

const chunk = 200;
/** The search field appears from this number of rows. */
const findFrom = 12;

export function JsonTree({ value, label, actions }: JsonTreeProps) {
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [find, setFind] = useState("");
  const [chosen, setChosen] = useState<string>();
  const [shown, setShown] = useState(chunk);
  const tree = useRef<HTMLDivElement>(null);
  const unfolded = useMemo(() => jsonRows(value, folds), [value, folds]);
  const findings = useMemo(() => (find === "" ? undefined : findRows(value, find)), [value, find]);
  const rows = findings?.rows ?? unfolded;
  const [searchable] = useState(rows.length >= findFrom || rows.some(({ folds, open }) => folds && !open));
  const active = rows.find(({ id }) => id === chosen);
  const first = active ?? rows[0];

  const fold = ({ id, folds: can }: JsonRow, open: boolean) => {
    if (can && !findings) setFolds(new Map(folds).set(id, open));
  };
  const choose = (row: JsonRow | undefined) => {
    if (!row) return;
    setChosen(row.id);
    tree.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(row.id)}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const visible = rows.slice(0, shown);
    const at = visible.findIndex(({ id }) => id === first?.id);
    const row = visible[at];
    if (!row || event.altKey || event.ctrlKey || event.metaKey) return;
    const parent = () => visible.slice(0, at).findLast(({ depth }) => depth < row.depth);
    const moves: Record<string, () => void> = {
      ArrowDown: () => choose(visible[at + 1]),
      ArrowUp: () => choose(visible[at - 1]),
      Home: () => choose(visible[0]),
      End: () => choose(visible.at(-1)),
      ArrowRight: () => (row.folds && !row.open ? fold(row, true) : choose(visible[at + 1])),
      ArrowLeft: () => (row.folds && row.open ? fold(row, false) : choose(parent())),
      Enter: () => fold(row, !row.open),
      " ": () => fold(row, !row.open),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    event.stopPropagation();
    setChosen(row.id);
    move();
  };

  return (
    <div className="json">
      {searchable && (
        <FindField
          label={label}
          value={find}
          onChange={setFind}
          status={findings && `${numberText(findings.found)} found`}
        />
      )}
      <div
        ref={tree}
        className="json-rows"
        role="tree"
        aria-label={label}
        onKeyDown={onKeyDown}
        tabIndex={-1}
      >
        {rows.slice(0, shown).map(row => (
          <Row
            key={row.id}
            row={row}
            reachable={row === first}
            chosen={row === active}
            onChoose={isInText => {
              setChosen(row.id);
              if (!isInText) fold(row, !row.open);
            }}
          />
        ))}
      </div>
      {rows.length > shown && (
        <Button small look="link" onClick={() => setShown(shown + chunk)}>
          Show {Math.min(chunk, rows.length - shown)} more of {numberText(rows.length - shown)}
        </Button>
      )}
      {active && (
        <div className="json-bar">
          <code className="break">{label + pathSuffix(active.path)}</code>
          <div className="line">
            <Button small icon="copy" onClick={() => void copyText(textOfValue(active.value), "value")}>
              Copy value
            </Button>
            <Button small icon="copy" onClick={() => void copyText(label + pathSuffix(active.path), "path")}>
              Copy path
            </Button>
            {actions?.(active.path)}
          </div>
        </div>
      )}
    </div>
  );
}

type RowProps = { row: JsonRow; reachable: boolean; chosen: boolean; onChoose: (isInText: boolean) => void };

function Row({ row, reachable, chosen, onChoose }: RowProps) {
  const { id, path, depth, value, folds, open, inner } = row;
  const wholeText = open && !inner && isLongText(value);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree hears the keys for all its rows.
    <div
      role="treeitem"
      className="json-row"
      data-row={id}
      aria-level={depth}
      aria-expanded={folds ? open : undefined}
      aria-selected={chosen}
      tabIndex={reachable ? 0 : -1}
      style={{ paddingInlineStart: `${Math.min(depth - 1, 12) * 14}px` }}
      onClick={event => {
        // A click that selects text does not fold.
        const isInText = event.target instanceof Element && event.target.closest(".long-text") !== null;
        if (getSelection()?.isCollapsed ?? true) onChoose(isInText);
        event.stopPropagation();
      }}
    >
      <span className="json-fold" data-open={open}>
        {folds && <Icon name="chevron" />}
      </span>
      <span className="json-key">{String(path.at(-1))}:</span>
      {wholeText ? <LongText text={value} label={pathText(path)} /> : <Preview row={row} />}
    </div>
  );
}

function Preview({ row: { value, inner, size, open } }: { row: JsonRow }) {
  if (inner) {
    const isList = Array.isArray(inner);
    const count = `${numberText(size)} ${isList ? "item" : "key"}${size === 1 ? "" : "s"}`;
    return (
      <span className="quiet">
        {inner !== value && "JSON text, "}
        {open || size === 0 ? (
          count
        ) : (
          <TraceText text={`${isList ? `${count} ` : ""}${previewText(inner)}`} />
        )}
      </span>
    );
  }
  if (typeof value !== "string") return <span className="json-plain">{printExact(value)}</span>;
  if (!isLongText(value))
    return (
      <span className="json-text">
        <TraceText text={JSON.stringify(value)} />
      </span>
    );
  return (
    <span className="json-text">
      <TraceText text={JSON.stringify(value.slice(0, 100)).slice(0, -1)} />…
      <span className="quiet"> {numberText(value.length)} characters</span>
    </span>
  );
}

const previewMax = 60;

/** A preview of a folded value, so that siblings can be told apart. */
function previewText(inner: object): string {
  const parts: string[] = [];
  let length = 0;
  for (const key in inner) {
    const item = (inner as Record<string, unknown>)[key];
    const value =
      typeof item === "object" && item !== null ? (Array.isArray(item) ? "[…]" : "{…}") : shortText(item);
    parts.push(Array.isArray(inner) ? value : `${key}: ${value}`);
    length += parts.at(-1)!.length;
    if (length > previewMax) break;
  }
  const text = parts.join(", ");
  const short = text.length > previewMax ? `${text.slice(0, previewMax)}…` : text;
  return Array.isArray(inner) ? `[${short}]` : `{${short}}`;
}

function shortText(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 30)) : printExact(value);
}

/** The path as appended to the label. */
function pathSuffix(path: ValuePath): string {
  const text = pathText(path);
  return text === "" || text.startsWith("[") ? text : `.${text}`;
}
