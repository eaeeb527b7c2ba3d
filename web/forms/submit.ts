// Submits a form: browser validation first, then the API's, with each error shown at its field.
import { type FormEvent, useState } from "react";
import type { Answer, Failure } from "../api.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { Drafted } from "./use-draft.ts";

/** Errors by field name. */
export type Faults = Partial<Record<string, string>>;

export type Submit = {
  /** For the `<form>`. */
  form: { noValidate: true; onSubmit: (event: FormEvent<HTMLFormElement>) => void };
  busy: boolean;
  faults: Faults;
  /** An error that belongs to no field. */
  failure: Failure | undefined;
  /** For the form's SubmitRow. Discarding also clears the errors. */
  draft: Drafted | undefined;
};

type SubmitOptions<T> = {
  /** Validation beyond the browser's; with an error, nothing is sent. */
  check?: (fields: FormData) => Faults;
  send: (fields: FormData) => Promise<Answer<T>>;
  done: (value: T) => void | Promise<void>;
  /** Of saved settings: they are not overwritten unless the user saw them. */
  draft?: Drafted | undefined;
  /** The field that an error belongs to if its issues do not name one. */
  fieldOf?: (failure: Failure) => string | undefined;
};

/** `send` gets the raw fields. A submit is ignored until an earlier one and its `done` have ended. */
export function useSubmit<T>({ check, send, done, draft, fieldOf }: SubmitOptions<T>): Submit {
  const [busy, setBusy] = useState(false);
  const [faults, setFaults] = useState<Faults>({});
  const [failure, setFailure] = useState<Failure>();
  const [once] = useState(() => oneAtATime(setBusy));

  async function submit(form: HTMLFormElement): Promise<void> {
    const fields = new FormData(form);
    const found = { ...check?.(fields), ...invalidFields(form) };
    setFailure(undefined);
    setFaults(found);
    if (focusFirst(form, found)) return;
    if (draft && !(await draft.isCurrent())) return;
    const answer = await send(fields);
    if (answer.ok) return done(answer.value);
    const refused = faultsOf(answer.failure, form, fieldOf);
    setFaults(refused);
    if (!focusFirst(form, refused)) setFailure(answer.failure);
  }

  return {
    busy,
    faults,
    failure,
    draft: draft && {
      ...draft,
      discard() {
        draft.discard();
        setFaults({});
        setFailure(undefined);
      },
    },
    form: {
      noValidate: true,
      onSubmit(event) {
        event.preventDefault();
        const form = event.currentTarget;
        void once(() => submit(form));
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

/** Errors by the first step of each issue's path: `agentIds[0]` belongs to the field agentIds. */
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

/** Focuses the first field with an error; false if there is no error. */
function focusFirst(form: HTMLFormElement, faults: Faults): boolean {
  const fields = [...form.elements].filter(
    element => element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement,
  );
  const first = fields.find(({ name }) => faults[name] !== undefined);
  if (!first) return Object.keys(faults).length > 0;
  first.focus();
  return true;
}
