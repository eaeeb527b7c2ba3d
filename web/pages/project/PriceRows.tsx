// Editable table of the project's prices, with each error at its field.

import { useId } from "react";
import type { OwnPrice } from "../../../src/model/price/rates.ts";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";

/** The texts in the fields; `row` is the React key. */
export type DraftPrice = {
  row: number;
  model: string;
  validFrom: string;
  inputUsd: string;
  outputUsd: string;
  cachedUsd: string;
  cacheWriteUsd: string;
};

let lastRow = 0;

export function toDraft({ model = "", validFrom = "", ...rates }: Partial<OwnPrice>): DraftPrice {
  lastRow += 1;
  return {
    ...{ row: lastRow, model, validFrom },
    ...{ inputUsd: textOf(rates.inputUsd), outputUsd: textOf(rates.outputUsd) },
    ...{ cachedUsd: textOf(rates.cachedUsd), cacheWriteUsd: textOf(rates.cacheWriteUsd) },
  };
}

/** A missing number is sent as null, which the API rejects with an error at its field; only cached ones are optional. */
export function fromDraft({ model, validFrom, ...rates }: DraftPrice) {
  return {
    ...{ model, validFrom, inputUsd: numberOf(rates.inputUsd), outputUsd: numberOf(rates.outputUsd) },
    ...{ cachedUsd: numberOf(rates.cachedUsd), cacheWriteUsd: numberOf(rates.cacheWriteUsd) },
  };
}

function textOf(number: number | null | undefined): string {
  return number == null ? "" : String(number);
}

function numberOf(text: string): number | null {
  return text.trim() === "" || Number.isNaN(Number(text)) ? null : Number(text);
}

const columns = [
  { name: "model", label: "Model", type: "text" },
  { name: "validFrom", label: "From (UTC)", type: "date" },
  { name: "inputUsd", label: "Input, $", type: "number" },
  { name: "outputUsd", label: "Output, $", type: "number" },
  { name: "cachedUsd", label: "Cached, $", type: "number" },
  { name: "cacheWriteUsd", label: "Cache write, $", type: "number" },
] as const;

type PriceRowsProps = {
  drafts: DraftPrice[];
  /** Error messages by path, such as `prices[1].validFrom`. */
  faults: ReadonlyMap<string, string>;
  onChange: (drafts: DraftPrice[]) => void;
  onRemove: (at: number) => void;
};

export function PriceRows({ drafts, faults, onChange, onRemove }: PriceRowsProps) {
  const id = useId();
  return (
    <div className="table-wrap judge-prices">
      <table className="table">
        <caption className="unseen">This project’s prices</caption>
        <thead>
          <tr>
            {columns.map(({ name, label }) => (
              <th key={name} scope="col">
                {label}
              </th>
            ))}
            <th scope="col">
              <span className="unseen">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {drafts.map((draft, at) => (
            <tr key={draft.row}>
              {columns.map(({ name, label, type }) => {
                const fault = faults.get(`prices[${at}].${name}`);
                const faultId = `${id}-${draft.row}-${name}`;
                return (
                  <td key={name} data-label={label} data-cell={name}>
                    <input
                      className="input"
                      type={type}
                      {...(type === "number" && { min: 0, step: "any" })}
                      aria-label={`${label}, price ${at + 1}`}
                      aria-invalid={fault ? true : undefined}
                      aria-describedby={fault ? faultId : undefined}
                      {...(name.startsWith("cache") && { placeholder: "as input" })}
                      value={draft[name]}
                      onChange={({ target }) =>
                        onChange(
                          drafts.map(other => (other === draft ? { ...draft, [name]: target.value } : other)),
                        )
                      }
                    />
                    <Fault id={faultId} fault={fault} />
                  </td>
                );
              })}
              <td data-label="Remove">
                <Button
                  look="plain"
                  small
                  icon="trash"
                  aria-label={`Remove price ${at + 1}`}
                  onClick={() => onRemove(at)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
