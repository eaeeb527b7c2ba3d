// The strictness of a test, as a slider and a number, with what it means.
import { useId } from "react";
import { useFaultOf } from "./editor-context.ts";

/** The threshold in words. */
function strictnessWord(threshold: number): string {
  if (threshold >= 0.95) return "Very strict: only a flawless reply passes.";
  if (threshold >= 0.8) return "Strict: small flaws fail.";
  if (threshold >= 0.6) return "Balanced: small flaws pass.";
  if (threshold >= 0.3) return "Lenient: half is enough.";
  return "Very lenient: almost everything passes.";
}

type StrictnessProps = { value: unknown; onValue: (value: unknown) => void };

export function Strictness({ value, onValue }: StrictnessProps) {
  const id = useId();
  const { fault, warning } = useFaultOf("threshold", {});
  const threshold = value === undefined ? 0.7 : value;
  const isUsable = typeof threshold === "number" && threshold >= 0 && threshold <= 1;
  const word = isUsable ? strictnessWord(threshold) : undefined;
  return (
    <fieldset className="choices" aria-describedby={`${id}-word`}>
      <legend>Strictness</legend>
      <div className="editor-strictness">
        <input
          type="range"
          aria-label="Strictness slider"
          min={0}
          max={1}
          step={0.05}
          value={isUsable ? threshold : 0.7}
          aria-valuetext={isUsable ? `${threshold}. ${word}` : "Not a valid number"}
          onChange={({ target }) => onValue(Number(target.value))}
        />
        <input
          type="number"
          className="input"
          aria-label="Strictness value"
          data-path="threshold"
          aria-invalid={fault || warning ? true : undefined}
          min={0}
          max={1}
          step={0.05}
          value={typeof threshold === "number" ? threshold : ""}
          onChange={({ target }) => onValue(target.value === "" ? undefined : Number(target.value))}
        />
      </div>
      <div id={`${id}-word`} className="field-hint">
        {fault ?? warning ?? word ?? "Enter a number from 0 to 1."} Applies to semantic checks only.
      </div>
    </fieldset>
  );
}
