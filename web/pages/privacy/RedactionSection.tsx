// What is redacted before it is stored: built-in rules, own rules, pseudonyms.
import { useId, useRef } from "react";
import { flushSync } from "react-dom";
import { Button } from "../../ui/Button.tsx";
import { Choices, Fault } from "../../ui/Field.tsx";
import { type DraftPrivacy, newPattern } from "./draft.ts";
import { PatternRows } from "./PatternRows.tsx";
import { ruleChoices, withAll } from "./words.ts";

type RedactionSectionProps = {
  draft: DraftPrivacy;
  faults: ReadonlyMap<string, string>;
  onChange: (fields: Partial<DraftPrivacy>) => void;
};

export function RedactionSection({ draft, faults, onChange }: RedactionSectionProps) {
  const { rules } = draft;
  const section = useRef<HTMLElement>(null);
  const add = () => {
    flushSync(() => onChange({ rules: [...rules, newPattern()] }));
    section.current?.querySelector<HTMLElement>("li:last-child input")?.focus();
  };
  const remove = (at: number) => {
    flushSync(() => onChange({ rules: rules.toSpliced(at, 1) }));
    // Focus the remove button of the next row, or "Add rule".
    section.current?.querySelectorAll("button")[at]?.focus();
  };
  return (
    <section className="card stack" aria-labelledby="redaction">
      <div className="stack-tight">
        <h2 id="redaction">Redaction</h2>
        <p className="quiet">
          What a rule finds is replaced before a trace is stored, in attributes, events, metadata, log records
          and replies of manual runs. It cannot be restored. Stored traces stay as they are.
        </p>
      </div>
      <Choices
        name="builtIn"
        label="Built-in rules"
        many
        choices={ruleChoices}
        chosen={draft.builtIn}
        onChoose={next => onChange({ builtIn: withAll(next) })}
        fault={faults.get("builtIn")}
      />
      <section className="stack" aria-labelledby="redaction-own" ref={section}>
        <div className="stack-tight">
          <h3 id="redaction-own">Own rules</h3>
          <p className="quiet">
            What the regular expression finds becomes the name in brackets, such as [customer-number]. At most
            20.
          </p>
        </div>
        {rules.length > 0 && (
          <PatternRows
            drafts={rules}
            faults={faults}
            onChange={next => onChange({ rules: next })}
            onRemove={remove}
          />
        )}
        <div className="line">
          <Button icon="plus" onClick={add}>
            Add rule
          </Button>
        </div>
      </section>
      <Pseudonyms draft={draft} faults={faults} onChange={onChange} />
    </section>
  );
}

function Pseudonyms({ draft, faults, onChange }: RedactionSectionProps) {
  const id = useId();
  const fault = [...faults].find(([path]) => path.startsWith("pseudonyms"))?.[1];
  return (
    <div className="field">
      <label htmlFor={id}>Attributes to pseudonymize</label>
      <textarea
        id={id}
        className="input mono"
        rows={3}
        value={draft.pseudonyms}
        placeholder="user.id"
        spellCheck={false}
        aria-invalid={fault ? true : undefined}
        aria-describedby={fault ? `${id}-fault ${id}-hint` : `${id}-hint`}
        onChange={({ target }) => onChange({ pseudonyms: target.value })}
      />
      <Fault id={`${id}-fault`} fault={fault} />
      <div id={`${id}-hint`} className="field-hint">
        One key per line. Each value becomes a stable pseudonym, so users can still be told apart. User and
        conversation IDs in which a rule finds something become one, too.
      </div>
    </div>
  );
}
