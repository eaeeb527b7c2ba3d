// Labeled form fields with hint and error, linked by ARIA attributes.
import { type ComponentProps, type ReactNode, useId } from "react";
import { Icon } from "./Icon.tsx";

type FieldBase = {
  /** The name of the input, and its key in the form's errors. */
  name: string;
  label: string;
  hint?: ReactNode;
  fault?: string | undefined;
};

export type FieldProps = FieldBase & Omit<ComponentProps<"input">, "id" | "className">;

export function Field({ label, hint, fault, ...input }: FieldProps) {
  const id = useId();
  const describedBy = [fault && `${id}-fault`, hint && `${id}-hint`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        className="input"
        aria-invalid={fault ? true : undefined}
        aria-describedby={describedBy || undefined}
      />
      <Fault id={`${id}-fault`} fault={fault} />
      {hint && (
        <div id={`${id}-hint`} className="field-hint">
          {hint}
        </div>
      )}
    </div>
  );
}

export type Choice<T extends string> = { value: T; label: string; note?: string | undefined };

type ChoicesProps<T extends string> = Omit<FieldBase, "hint"> & {
  choices: readonly Choice<T>[];
  /** Checkboxes instead of radio buttons. */
  many?: boolean;
  chosen: readonly T[];
  onChoose: (chosen: T[]) => void;
};

/** A group of radio buttons, or of checkboxes if several can be chosen. */
export function Choices<T extends string>(props: ChoicesProps<T>) {
  const { name, label, fault, choices, many = false, chosen, onChoose } = props;
  const id = useId();
  const choose = (value: T, on: boolean) => {
    if (!many) onChoose([value]);
    else onChoose(on ? [...chosen, value] : chosen.filter(one => one !== value));
  };
  return (
    <fieldset className="choices" aria-describedby={fault ? id : undefined}>
      <legend>{label}</legend>
      <div className={many ? "choices-boxed" : ""}>
        {choices.map(choice => (
          <label key={choice.value} className="choice">
            <input
              type={many ? "checkbox" : "radio"}
              name={name}
              value={choice.value}
              checked={chosen.includes(choice.value)}
              onChange={event => choose(choice.value, event.target.checked)}
              aria-invalid={fault ? true : undefined}
            />
            <span>
              <span className="break">{choice.label}</span>
              {choice.note && <span className="quiet small"> — {choice.note}</span>}
            </span>
          </label>
        ))}
      </div>
      <Fault id={id} fault={fault} />
    </fieldset>
  );
}

export function Fault({ id, fault }: { id: string; fault: string | undefined }) {
  if (!fault) return null;
  return (
    <div id={id} className="field-fault">
      <Icon name="warning" />
      <span>{fault}</span>
    </div>
  );
}
