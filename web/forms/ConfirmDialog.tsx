// A dialog that asks for the name of an item before deleting it.
import type { ReactNode } from "react";
import type { Answer } from "../api.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { type Faults, textOf, useSubmit } from "./submit.ts";

type ConfirmDialogProps = {
  title: string;
  about: ReactNode;
  /** The text to type. */
  name: string;
  send: () => Promise<Answer<void>>;
  /** Label of the button, such as "Revoke key". */
  action: string;
  onDone: () => void | Promise<void>;
  onClose: () => void;
};

export function ConfirmDialog({ title, about, name, send, action, onDone, onClose }: ConfirmDialogProps) {
  const { form, busy, faults, failure } = useSubmit<void>({
    check: (fields): Faults =>
      typeable(textOf(fields, "confirmation")) === typeable(name)
        ? {}
        : { confirmation: "The name does not match." },
    send,
    done: onDone,
  });
  return (
    <Dialog title={title} about={about} alert onClose={onClose}>
      <form {...form} className="stack">
        <Field
          label={`Type “${name}” to confirm`}
          name="confirmation"
          required
          fault={faults["confirmation"]}
          autoComplete="off"
          spellCheck={false}
        />
        <SubmitRow failure={failure} busy={busy} look="danger" onCancel={onClose}>
          {action}
        </SubmitRow>
      </form>
    </Dialog>
  );
}

/**
 * A field has one line: breaks and spaces in numbers count as one space. Nobody types invisible characters, nor an accent
 * as a character of its own.
 */
function typeable(name: string): string {
  return name
    .normalize("NFC")
    .replace(/\p{Cf}/gu, "")
    .trim()
    .replace(/\s+/g, " ");
}
