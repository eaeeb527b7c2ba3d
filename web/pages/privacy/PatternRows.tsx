// Editable rows of a project's own redaction rules, with each error at its field.
import { useId } from "react";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";
import type { DraftPattern } from "./draft.ts";

const columns = [
  { name: "name", label: "Name", placeholder: "customer-number" },
  { name: "pattern", label: "Pattern", placeholder: "C-\\d{6}" },
  { name: "flags", label: "Flags", placeholder: "i, m, s" },
] as const;

type PatternRowsProps = {
  drafts: DraftPattern[];
  /** Error messages by path, such as `rules[1].pattern`. */
  faults: ReadonlyMap<string, string>;
  onChange: (drafts: DraftPattern[]) => void;
  onRemove: (at: number) => void;
};

export function PatternRows({ drafts, faults, onChange, onRemove }: PatternRowsProps) {
  const id = useId();
  return (
    <ol className="rule-rows pattern-rows" aria-label="Own rules">
      {drafts.map((draft, at) => (
        <li key={draft.row} className="rule-row">
          {columns.map(({ name, label, placeholder }) => {
            const fault = faults.get(`rules[${at}].${name}`);
            const faultId = `${id}-${draft.row}-${name}`;
            return (
              <div key={name}>
                <span aria-hidden className="rule-label">
                  {label}
                </span>
                <input
                  className={name === "pattern" ? "input mono" : "input"}
                  aria-label={`${label}, rule ${at + 1}`}
                  {...(fault && { "aria-invalid": true, "aria-describedby": faultId })}
                  value={draft[name]}
                  placeholder={placeholder}
                  spellCheck={false}
                  autoCapitalize="off"
                  autoComplete="off"
                  onChange={({ target }) =>
                    onChange(
                      drafts.map(other => (other === draft ? { ...draft, [name]: target.value } : other)),
                    )
                  }
                />
                <Fault id={faultId} fault={fault} />
              </div>
            );
          })}
          <Button
            look="plain"
            small
            icon="trash"
            aria-label={`Remove rule ${at + 1}`}
            onClick={() => onRemove(at)}
          />
          <Fault id={`${id}-${draft.row}`} fault={faults.get(`rules[${at}]`)} />
        </li>
      ))}
    </ol>
  );
}
