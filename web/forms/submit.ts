// Sending a form: the browser's own checks, then the API's, with every fault at its field.
import { type FormEvent, useRef, useState } from "react";
import type { Answer, Failure } from "../api.ts";

/** A fault to each field's name. */
export type Faults = Partial<Record<string, string>>;

export type Submit = {
  /** For the `<form>`. */
  form: { noValidate: true; onSubmit: (event: FormEvent<HTMLFormElement>) => void };
  busy: boolean;
  faults: Faults;
  /** What concerns no field. */
  failure: Failure | undefined;
};

type SubmitOptions<T> = {
  /** Faults that the browser does not see; nothing is sent where there is one. */
  check?: (fields: FormData) => Faults;
  send: (fields: FormData) => Promise<Answer<T>>;
  done: (value: T) => void | Promise<void>;
  /** The field a refusal is about, where its issues do not say. */
  fieldOf?: (failure: Failure) => string | undefined;
};

/** `send` gets the fields as they are; a second submit while one is under way is ignored. */
export function useSubmit<T>({ check, send, done, fieldOf }: SubmitOptions<T>): Submit {
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<Faults>({});
  const [failure, setFailure] = useState<Failure>();
  const underWay = useRef(false);

  async function submit(form: HTMLFormElement): Promise<void> {
    if (underWay.current) return;
    const fields = new FormData(form);
    const found = { ...check?.(fields), ...invalidFields(form) };
    setFailure(undefined);
    setFaults(found);
    if (focusFirst(form, found)) return;
    underWay.current = true;
    setBusy(true);
    const answer = await send(fields);
    underWay.current = false;
    setBusy(false);
    if (answer.ok) return done(answer.value);
    const refused = faultsOf(answer.failure, form, fieldOf);
    setFaults(refused);
    if (!focusFirst(form, refused)) setFailure(answer.failure);
  }

  return {
    busy,
    faults,
    failure,
    form: {
      noValidate: true,
      onSubmit(event) {
        event.preventDefault();
        void submit(event.currentTarget);
      },
    },
  };
}

/** A text field's value. */
export function textOf(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === "string" ? value : "";
}

function invalidFields(form: HTMLFormElement): Faults {
  const inputs = [...form.elements].filter(element => element instanceof HTMLInputElement);
  return Object.fromEntries(
    inputs.filter(input => !input.validity.valid).map(input => [input.name, input.validationMessage]),
  );
}

/** By the first step of each issue's path: `agentIds[0]` is about the field agentIds. */
function faultsOf(
  failure: Failure,
  form: HTMLFormElement,
  fieldOf: SubmitOptions<unknown>["fieldOf"],
): Faults {
  const named = fieldOf?.(failure);
  if (named) return { [named]: failure.message };
  const issues = (failure.issues ?? []).map(
    ({ path, message }) => [path.split(/[.[]/)[0]!, message] as const,
  );
  const shown = issues.every(([name]) => form.elements.namedItem(name));
  return shown ? Object.fromEntries(issues.reverse()) : {};
}

/** Whether there was a fault to show at a field, which then has the focus. */
function focusFirst(form: HTMLFormElement, faults: Faults): boolean {
  const first = [...form.elements].find(
    element => element instanceof HTMLInputElement && faults[element.name] !== undefined,
  );
  if (!first) return Object.keys(faults).length > 0;
  (first as HTMLInputElement).focus();
  return true;
}
