// The headings of the list of traces: select all, names of columns, and handles that resize them.
// biome-ignore-all lint/a11y/useSemanticElements: rows of a <table> cannot be positioned or left out.
// biome-ignore-all lint/a11y/useFocusableInteractive: the controls in the headings take the focus.
import type { Ref } from "react";
import { numberText } from "../../format.ts";
import { bulkMax } from "../../mutations/traces.ts";
import type { Selection } from "../../ui/selection.ts";
import { ColumnHandle } from "./ColumnHandle.tsx";
import { type Column, type Look, widthOf } from "./columns.tsx";

type TraceHeadProps = {
  columns: readonly Column[];
  look: Look;
  /** Undefined: the headings are hidden. */
  selection: Selection | undefined;
  ref: Ref<HTMLDivElement>;
};

export function TraceHead({ columns, look, selection, ref }: TraceHeadProps) {
  const growing = columns.findIndex(({ growsTo }) => growsTo !== undefined);
  return (
    <div role="rowgroup" className="traces-head">
      <div className="traces-headings" role="presentation" ref={ref}>
        <div role="row" aria-rowindex={1} className="traces-row">
          <div role="columnheader" data-column="select">
            {selection ? <SelectAll selection={selection} /> : <span className="unseen">Select</span>}
          </div>
          {columns.map((column, at) => (
            <div key={column.id} role="columnheader" data-from={column.from} data-end={column.end}>
              <span className="heading-text">{column.label}</span>
              {selection && at !== growing && (
                <ColumnHandle
                  id={column.id}
                  label={column.label}
                  rem={widthOf(column, look)}
                  edge={at < growing ? "end" : "start"}
                />
              )}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function SelectAll({ selection: { all, some, chooseAll } }: { selection: Selection }) {
  return (
    <label className="trace-select">
      <input
        type="checkbox"
        aria-label="Select all loaded traces"
        title={`Select all loaded traces, at most ${numberText(bulkMax)}`}
        checked={all}
        ref={box => {
          if (box) box.indeterminate = some && !all;
        }}
        onChange={() => chooseAll(!all)}
      />
    </label>
  );
}
