// Values and texts from a trace or a test, shown as plain text; long ones shortened until expanded.
import { type ReactNode, useState } from "react";
import { Button } from "../../../ui/Button.tsx";
import { TraceText } from "../../../ui/TraceText.tsx";

const textMax = 600;
const lineMax = 60;

/** A value as JSON, on one line if it is short. Text that is JSON is shown unchanged, to keep every digit. */
export function Value({ value }: { value: unknown }) {
  if (value === undefined) return <span className="quiet">nothing</span>;
  if (typeof value === "string" && /^\s*[[{]/.test(value)) return <Long text={value} code />;
  const line = JSON.stringify(value);
  return <Long text={line.length > lineMax ? JSON.stringify(value, null, 2) : line} code />;
}

/** Plain text with its line breaks. */
export function Long({ text, code = false }: { text: string; code?: boolean }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > textMax;
  const shown = cut ? `${text.slice(0, textMax)}…` : text;
  const look = shown.includes("\n") ? "value value-block" : "value";
  return (
    <>
      {code ? (
        <code className={look}>
          <TraceText text={shown} />
        </code>
      ) : (
        <span className="value">
          <TraceText text={shown} />
        </span>
      )}
      {cut && (
        <Button small look="link" onClick={() => setWhole(true)}>
          Show all
        </Button>
      )}
    </>
  );
}

/** Names and values, one per line; names without a value are left out. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  const given = facts.filter(([, value]) => value !== undefined && value !== null && value !== false);
  if (given.length === 0) return null;
  return (
    <dl className="check-facts">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Names as in the trace. */
export function Names({ names }: { names: string[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? names : names.slice(0, 12);
  return (
    <span className="names">
      {shown.map(name => (
        <code key={name}>{name}</code>
      ))}
      {shown.length < names.length && (
        <Button small look="link" onClick={() => setAll(true)}>
          {names.length - shown.length} more
        </Button>
      )}
    </span>
  );
}
