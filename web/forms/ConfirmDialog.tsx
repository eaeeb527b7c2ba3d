// Asks for the name of what is about to be destroyed, so that nothing is by a slip.
import type { ReactNode } from "react";
import { type Answer, ask } from "../api.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { type Faults, textOf, useSubmit } from "./submit.ts";

type ConfirmDialogProps = {
  title: string;
  about: ReactNode;
  /** What is to be typed. */
  name: string;
  /** The address that DELETE is sent to. */
  path: string;
  /** On the button: "Revoke key". */
  action: string;
  onDone: () => void | Promise<void>;
  onClose: () => void;
};

/** What is gone already counts as done. */
export function ConfirmDialog({ title, about, name, path, action, onDone, onClose }: ConfirmDialogProps) {
  const { form, busy, faults, failure } = useSubmit<void>({
    check: (fields): Faults =>
      typeable(textOf(fields, "confirmation")) === typeable(name)
        ? {}
        : { confirmation: "This is another name." },
    send: async () => {
      const answer: Answer<void> = await ask("DELETE", path);
      return !answer.ok && answer.failure.code === "NOT_FOUND" ? { ok: true, value: undefined } : answer;
    },
    done: onDone,
  });
  return (
    <Dialog title={title} about={about} alert onClose={onClose}>
      <form {...form} className="stack">
        <Field
          label={`Type “${name}” to go on`}
          name="confirmation"
          required
          fault={faults["confirmation"]}
          autoComplete="off"
          spellCheck={false}
        />
        <FailureNotice failure={failure} />
        <div className="line line-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** A field has one line: breaks and spaces in numbers count as one space. */
function typeable(name: string): string {
  return name.trim().replace(/\s+/g, " ");
}
