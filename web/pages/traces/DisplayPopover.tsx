// Density, style of times, optional columns and widths of the list of traces.
import type { PersistedChoice } from "../../persisted-choice.ts";
import { Button } from "../../ui/Button.tsx";
import { Popover } from "../../ui/Popover.tsx";
import { optional } from "./columns.tsx";
import { chosenColumns, columnWidths, densities, density, timeStyle, timeStyles } from "./display.ts";

export function DisplayPopover() {
  return (
    <Popover
      icon="columns"
      title="Display"
      panel={() => (
        <>
          <OneOf label="Density" choices={densities} chosen={density} className="only-rows" />
          <OneOf label="Times" choices={timeStyles} chosen={timeStyle} />
          <MoreColumns />
          <ResetWidths />
        </>
      )}
    >
      Display
    </Popover>
  );
}

type OneOfProps<T extends string> = {
  label: string;
  choices: Record<T, string>;
  chosen: PersistedChoice<T>;
  className?: string;
};

function OneOf<T extends string>({ label, choices, chosen, className = "" }: OneOfProps<T>) {
  const value = chosen.use();
  return (
    <fieldset className={`panel-form ${className}`}>
      <legend className="menu-label">{label}</legend>
      {Object.entries<string>(choices).map(([choice, text]) => (
        <label key={choice} className="choice">
          <input
            type="radio"
            name={label}
            checked={choice === value}
            onChange={() => chosen.set(choice as T)}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function MoreColumns() {
  const ids = chosenColumns.use().split(",");
  const choose = (id: string, on: boolean) =>
    chosenColumns.set(
      optional
        .filter(column => (column.id === id ? on : ids.includes(column.id)))
        .map(({ id }) => id)
        .join(),
    );
  return (
    <fieldset className="panel-form only-wide">
      <legend className="menu-label">More columns</legend>
      {optional.map(({ id, label }) => (
        <label key={id} className="choice">
          <input
            type="checkbox"
            checked={ids.includes(id)}
            onChange={event => choose(id, event.target.checked)}
          />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function ResetWidths() {
  if (columnWidths.use() === "") return null;
  return (
    <div className="panel-form only-rows">
      <Button small onClick={() => columnWidths.set("")}>
        Reset column widths
      </Button>
    </div>
  );
}
