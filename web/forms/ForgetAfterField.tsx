// The field for how long content is kept: a few times to choose from, or a custom one.
import { useId } from "react";
import "../styles/connection.css";
import { Fault } from "../ui/Field.tsx";
import { type ForgetAfter, forgetTimes, forgetUnits } from "./forget-after.ts";

type ForgetAfterFieldProps = {
  value: ForgetAfter;
  onChange: (value: ForgetAfter) => void;
  fault: string | undefined;
};

export function ForgetAfterField({ value, onChange, fault }: ForgetAfterFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Drop content after</label>
      <select
        id={id}
        className="input"
        value={value.time}
        onChange={({ target }) => onChange({ ...value, time: target.value as ForgetAfter["time"] })}
      >
        {forgetTimes.map(({ value: time, label }) => (
          <option key={time} value={time}>
            {label}
          </option>
        ))}
      </select>
      {value.time === "custom" && (
        <div className="connection-pair">
          <input
            className="input"
            name="contentForgetAfterSeconds"
            type="number"
            min="0"
            step="any"
            aria-label="Amount"
            aria-invalid={fault ? true : undefined}
            aria-describedby={fault ? `${id}-fault` : undefined}
            value={value.amount}
            onChange={({ target }) => onChange({ ...value, amount: target.value })}
          />
          <select
            className="input"
            aria-label="Unit"
            value={value.unit}
            onChange={({ target }) => onChange({ ...value, unit: target.value as ForgetAfter["unit"] })}
          >
            {forgetUnits.map(({ value: unit }) => (
              <option key={unit} value={unit}>
                {unit}
              </option>
            ))}
          </select>
        </div>
      )}
      <Fault id={`${id}-fault`} fault={fault} />
      <div className="field-hint">
        Counted from the end of the trace’s last evaluation, or from its last spans if no test applies.
      </div>
    </div>
  );
}
