// Editable rows of an agent's own rules, with each error at its row.
import { useId } from "react";
import type { Agent } from "../../src/http/projects/schemas.ts";
import { Button } from "../ui/Button.tsx";
import { Combobox, type Completion } from "../ui/Combobox.tsx";
import { Fault } from "../ui/Field.tsx";

export type Rule = Agent["conventionRules"][number];

/** The texts in the fields; `row` is the React key. */
export type DraftRule = { row: number; from: string; to: string; spanName: string };

let lastRow = 0;

export function toDraft({ from, to, spanName = "" }: Partial<Omit<Rule, "to">> & { to: string }): DraftRule {
  lastRow += 1;
  return { row: lastRow, from: from ?? "", to, spanName };
}

/** An empty name of a span means all spans. */
export function fromDraft({ from, to, spanName }: DraftRule): Rule {
  return { from, to: to as Rule["to"], ...(spanName === "" ? {} : { spanName }) };
}

type RuleRowsProps = {
  drafts: DraftRule[];
  /** The documented attributes that a rule can give. */
  targets: string[];
  attributes: Completion[];
  spans: Completion[];
  /** Error messages by path, such as `conventionRules[1].from`. */
  faults: ReadonlyMap<string, string>;
  onChange: (drafts: DraftRule[]) => void;
  onRemove: (at: number) => void;
};

export function RuleRows({ drafts, targets, attributes, spans, faults, onChange, onRemove }: RuleRowsProps) {
  const id = useId();
  return (
    <ol className="rule-rows" aria-label="Own rules">
      {drafts.map((draft, at) => {
        const path = `conventionRules[${at}]`;
        const change = (fields: Partial<DraftRule>) =>
          onChange(drafts.map(other => (other === draft ? { ...draft, ...fields } : other)));
        const fieldOf = (name: "from" | "to" | "spanName", label: string) => {
          const faultId = `${id}-${draft.row}-${name}`;
          const fault = faults.get(`${path}.${name}`);
          const described = fault
            ? ({ "aria-invalid": true, "aria-describedby": faultId } as const)
            : ({} as const);
          return { input: { "aria-label": `${label}, rule ${at + 1}`, ...described }, faultId, fault };
        };
        const [from, to, spanName] = [
          fieldOf("from", "Attribute"),
          fieldOf("to", "Read as"),
          fieldOf("spanName", "On spans named"),
        ];
        return (
          <li key={draft.row} className="rule-row">
            <div>
              <span aria-hidden className="rule-label">
                Attribute
              </span>
              <Combobox
                {...from.input}
                value={draft.from}
                onValue={value => change({ from: value })}
                completions={attributes}
                placeholder="app.question"
              />
              <Fault id={from.faultId} fault={from.fault} />
            </div>
            <div>
              <span aria-hidden className="rule-label">
                Read as
              </span>
              <select
                {...to.input}
                className="input"
                value={draft.to}
                onChange={({ target }) => change({ to: target.value })}
              >
                {targets.map(target => (
                  <option key={target}>{target}</option>
                ))}
              </select>
              <Fault id={to.faultId} fault={to.fault} />
            </div>
            <div>
              <span aria-hidden className="rule-label">
                On spans named
              </span>
              <Combobox
                {...spanName.input}
                value={draft.spanName}
                onValue={value => change({ spanName: value })}
                completions={spans}
                placeholder="any"
              />
              <Fault id={spanName.faultId} fault={spanName.fault} />
            </div>
            <Button
              look="plain"
              small
              icon="trash"
              aria-label={`Remove rule ${at + 1}`}
              onClick={() => onRemove(at)}
            />
            <Fault id={`${id}-${draft.row}`} fault={faults.get(path)} />
          </li>
        );
      })}
    </ol>
  );
}
