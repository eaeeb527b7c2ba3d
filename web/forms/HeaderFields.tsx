// Editor for the headers sent with every request. Values of secret headers are write-only.
import { useRef } from "react";
import { flushSync } from "react-dom";
import "../styles/connection.css";
import { Button } from "../ui/Button.tsx";
import { Fault } from "../ui/Field.tsx";
import { type DraftHeader, newHeader } from "./connection-draft.ts";
import type { Faults } from "./submit.ts";

type HeaderFieldsProps = {
  headers: DraftHeader[];
  onChange: (headers: DraftHeader[]) => void;
  faults: Faults;
  hint: string;
  /** Every header is secret, so there is no choice. */
  allSecret?: boolean;
};

export function HeaderFields({ headers, onChange, faults, hint, allSecret = false }: HeaderFieldsProps) {
  const group = useRef<HTMLFieldSetElement>(null);
  const add = () => {
    flushSync(() => onChange([...headers, newHeader()]));
    group.current?.querySelector<HTMLElement>(`[name="headers[${headers.length}].name"]`)?.focus();
  };
  const remove = (at: number) => {
    flushSync(() => onChange(headers.toSpliced(at, 1)));
    // Focus the next row's remove button, or "Add header".
    group.current?.querySelectorAll("button")[at]?.focus();
  };
  return (
    <fieldset className="choices connection-headers" ref={group}>
      <legend>Headers</legend>
      <p className="field-hint">{hint}</p>
      {headers.map((header, at) => (
        <HeaderRow
          key={header.key}
          header={header}
          at={at}
          faults={faults}
          allSecret={allSecret}
          onChange={changed => onChange(headers.map(one => (one.key === header.key ? changed : one)))}
          onRemove={() => remove(at)}
        />
      ))}
      <div>
        <Button small icon="plus" onClick={add}>
          Add header
        </Button>
      </div>
    </fieldset>
  );
}

type HeaderRowProps = {
  header: DraftHeader;
  at: number;
  faults: Faults;
  allSecret: boolean;
  onChange: (header: DraftHeader) => void;
  onRemove: () => void;
};

function HeaderRow({ header, at, faults, allSecret, onChange, onRemove }: HeaderRowProps) {
  const { key, name, value, secret, stored } = header;
  const path = `headers[${at}]`;
  const unreadable =
    stored === "unreadable" && value === "" ? "Encrypted with another key. Enter it again." : undefined;
  const [nameFault, valueFault] = [faults[`${path}.name`], faults[`${path}.value`] ?? unreadable];
  const faultId = `header-${key}-fault`;
  const fault = [nameFault, valueFault].filter(Boolean).join(" ");
  const label = name || `header ${at + 1}`;
  return (
    <div className="connection-header">
      <input
        className="input mono"
        name={`${path}.name`}
        aria-label={`Name of header ${at + 1}`}
        placeholder="Name"
        value={name}
        onChange={({ target }) => onChange({ ...header, name: target.value })}
        aria-invalid={nameFault ? true : undefined}
        aria-describedby={fault ? faultId : undefined}
        autoComplete="off"
        spellCheck={false}
      />
      <input
        className="input mono"
        name={`${path}.value`}
        type={secret ? "password" : "text"}
        aria-label={`Value of ${label}`}
        placeholder={secret && stored === "kept" ? "Stored; type to replace it" : "Value"}
        value={value}
        onChange={({ target }) => onChange({ ...header, value: target.value })}
        aria-invalid={valueFault ? true : undefined}
        aria-describedby={fault ? faultId : undefined}
        autoComplete="new-password"
        spellCheck={false}
      />
      {!allSecret && (
        <label className="choice">
          <input
            type="checkbox"
            checked={secret}
            aria-label={`${label} is secret`}
            onChange={({ target }) => onChange({ ...header, secret: target.checked })}
          />
          Secret
        </label>
      )}
      <Button look="plain" icon="trash" small aria-label={`Remove ${label}`} onClick={onRemove} />
      {fault && (
        <div className="connection-header-fault">
          <Fault id={faultId} fault={fault} />
        </div>
      )}
    </div>
  );
}
