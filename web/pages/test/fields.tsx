// The inputs of the editor's form: each edits one path of the document and shows its error or warning.
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { Combobox, type Completion } from "../../ui/Combobox.tsx";
import { Fault } from "../../ui/Field.tsx";
import { Icon } from "../../ui/Icon.tsx";
import { jsonText } from "./document.ts";
import { useFaultOf } from "./editor-context.ts";
import { readText } from "./json-text.ts";

export type Bound = {
  label: string;
  /** Path of the value in the document. */
  path: string;
  value: unknown;
  /** Called with undefined to remove the field. */
  onValue: (value: unknown) => void;
  hint?: ReactNode;
};

type Inner = Pick<ComponentProps<"input">, "id" | "className" | "aria-invalid" | "aria-describedby"> & {
  "data-path": string;
};

type FrameProps = Pick<Bound, "label" | "path" | "hint"> & {
  isEmpty: boolean;
  deep?: boolean;
  /** Why the typed text does not parse as a value. */
  unread?: string | undefined;
  children: (inner: Inner) => ReactNode;
};

function Frame({ label, path, hint, isEmpty, deep = false, unread, children }: FrameProps) {
  const id = useId();
  const found = useFaultOf(path, { isEmpty, deep });
  const fault = unread ?? found.fault;
  const warning = fault ? undefined : found.warning;
  const about = [fault && `${id}-fault`, warning && `${id}-warning`, hint && `${id}-hint`].filter(Boolean);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        className: "input",
        "data-path": path,
        "aria-invalid": fault ? true : undefined,
        "aria-describedby": about.join(" ") || undefined,
      })}
      <Fault id={`${id}-fault`} fault={fault} />
      {warning && (
        <div id={`${id}-warning`} className="field-warning">
          <Icon name="info" />
          <span>{warning}</span>
        </div>
      )}
      {hint && (
        <div id={`${id}-hint`} className="field-hint">
          {hint}
        </div>
      )}
    </div>
  );
}

/** Shows a value of the wrong type as JSON, so that the user can fix it. */
function asText(value: unknown): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

/** `optional`: an empty input removes the field. */
type TextProps = Bound & { optional?: boolean };

export function TextLine({ optional = false, value, onValue, ...frame }: TextProps) {
  const text = asText(value);
  return (
    <Frame {...frame} isEmpty={text === ""}>
      {inner => (
        <input
          {...inner}
          type="text"
          autoComplete="off"
          value={text}
          onChange={({ target }) => onValue(target.value === "" && optional ? undefined : target.value)}
        />
      )}
    </Frame>
  );
}

/** The first option removes the field. */
export function SelectLine({
  options,
  none,
  value,
  onValue,
  ...frame
}: Bound & { options: Record<string, string>; none: string }) {
  const known = typeof value === "string" && Object.hasOwn(options, value);
  return (
    <Frame {...frame} isEmpty={value === undefined}>
      {inner => (
        <select
          {...inner}
          value={known ? value : value === undefined ? "" : otherValue}
          onChange={({ target }) => onValue(target.value === "" ? undefined : target.value)}
        >
          <option value="">{none}</option>
          {Object.entries(options).map(([option, label]) => (
            <option key={option} value={option}>
              {label}
            </option>
          ))}
          {!known && value !== undefined && (
            <option value={otherValue} disabled>
              Set in the JSON
            </option>
          )}
        </select>
      )}
    </Frame>
  );
}

const otherValue = "other";

export function TextBlock({
  optional = false,
  rows = 3,
  value,
  onValue,
  ...frame
}: TextProps & { rows?: number }) {
  const text = asText(value);
  return (
    <Frame {...frame} isEmpty={text === ""}>
      {inner => (
        <textarea
          {...inner}
          rows={rows}
          value={text}
          onChange={({ target }) => onValue(target.value === "" && optional ? undefined : target.value)}
        />
      )}
    </Frame>
  );
}

export function CompletedLine({
  optional = false,
  completions,
  value,
  onValue,
  mono = false,
  ...frame
}: TextProps & { completions: readonly Completion[]; mono?: boolean }) {
  const text = asText(value);
  return (
    <Frame {...frame} isEmpty={text === ""}>
      {inner => (
        <Combobox
          {...inner}
          className={mono ? "input mono" : "input"}
          completions={completions}
          value={text}
          onValue={next => onValue(next === "" && optional ? undefined : next)}
        />
      )}
    </Frame>
  );
}

type NumberProps = Bound & Pick<ComponentProps<"input">, "min" | "max" | "step" | "placeholder">;

/** An empty input removes the field. */
export function NumberLine({ value, onValue, min, max, step = 1, placeholder, ...frame }: NumberProps) {
  return (
    <Frame {...frame} isEmpty={value === undefined}>
      {inner => (
        <input
          {...inner}
          type="number"
          min={min}
          max={max}
          step={step}
          placeholder={placeholder}
          value={typeof value === "number" ? value : ""}
          onChange={({ target }) => onValue(target.value === "" ? undefined : Number(target.value))}
        />
      )}
    </Frame>
  );
}

type Read = { ok: true; value: unknown } | { ok: false; fault: string };

/** Keeps the text as typed while it still parses to the current value. */
function useTyped(
  { value, onValue }: Pick<Bound, "value" | "onValue">,
  write: (value: unknown) => string,
  read: (text: string) => Read,
) {
  const [typed, setTyped] = useState<{ text: string; of: string }>();
  const of = JSON.stringify(value) ?? "";
  const text = typed?.of === of ? typed.text : write(value);
  const now = read(text);
  return {
    text,
    unread: now.ok ? undefined : now.fault,
    type(next: string) {
      const then = read(next);
      setTyped({ text: next, of: then.ok ? (JSON.stringify(then.value) ?? "") : of });
      if (then.ok) onValue(then.value);
    },
  };
}

/** Any JSON value; an empty input removes the field. */
export function JsonBlock({ value, onValue, rows = 3, ...frame }: Bound & { rows?: number }) {
  const { text, unread, type } = useTyped({ value, onValue }, jsonText, readJson);
  return (
    <Frame {...frame} isEmpty={value === undefined} deep unread={unread}>
      {inner => (
        <textarea
          {...inner}
          className="input mono"
          spellCheck={false}
          rows={Math.min(16, Math.max(rows, text.split("\n").length))}
          data-unread={unread ? "" : undefined}
          value={text}
          onChange={({ target }) => type(target.value)}
        />
      )}
    </Frame>
  );
}

function readJson(text: string): Read {
  if (text.trim() === "") return { ok: true, value: undefined };
  const read = readText(text);
  if (read.ok) return read;
  const { line, column, message } = read.fault;
  return { ok: false, fault: `Invalid JSON, line ${line}, column ${column}: ${message}` };
}

/** One status, several, or a class such as 2xx. */
export function StatusLine({ value, onValue, ...frame }: Bound) {
  const { text, type } = useTyped({ value, onValue }, writeStatus, readStatus);
  return (
    <Frame {...frame} isEmpty={text === ""} deep>
      {inner => (
        <input
          {...inner}
          type="text"
          autoComplete="off"
          value={text}
          onChange={({ target }) => type(target.value)}
        />
      )}
    </Frame>
  );
}

function writeStatus(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : asText(value);
}

/** An invalid status goes into the document as typed: the server explains what is expected. */
function readStatus(text: string): Read {
  const parts = text.split(",").map(part => part.trim());
  const given = parts.filter(part => part !== "");
  const numbers = given.every(part => /^\d+$/.test(part)) ? given.map(Number) : [];
  if (numbers.length === 0) return { ok: true, value: text };
  return { ok: true, value: parts.length > 1 ? numbers : numbers[0] };
}
