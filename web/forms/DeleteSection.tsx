// The section at the end of a settings page that deletes the item, after its name is typed.
import { useState } from "react";
import type { Answer } from "../api.ts";
import { Button } from "../ui/Button.tsx";
import { toast } from "../ui/Toast.tsx";
import { ConfirmDialog } from "./ConfirmDialog.tsx";

type DeleteSectionProps = {
  /** "agent". */
  noun: string;
  name: string;
  send: () => Promise<Answer<void>>;
  /** What is deleted with it, in a sentence. */
  lost: string;
  onDone: () => Promise<void>;
};

export function DeleteSection({ noun, name, send, lost, onDone }: DeleteSectionProps) {
  const [deleting, setDeleting] = useState(false);
  return (
    <section className="card stack">
      <h2>Delete this {noun}</h2>
      <p className="quiet">{lost}</p>
      <div>
        <Button icon="trash" onClick={() => setDeleting(true)}>
          Delete {noun}…
        </Button>
      </div>
      {deleting && (
        <ConfirmDialog
          title={`Delete ${noun}`}
          about={`${lost} This cannot be undone.`}
          name={name}
          send={send}
          action={`Delete ${noun}`}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast(`“${name}” deleted`);
            return onDone();
          }}
        />
      )}
    </section>
  );
}
