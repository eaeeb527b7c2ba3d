// The end of a page: deleting for good what it is about, once its name was typed.
import { useState } from "react";
import { Button } from "../ui/Button.tsx";
import { toast } from "../ui/Toast.tsx";
import { ConfirmDialog } from "./ConfirmDialog.tsx";

type DeleteSectionProps = {
  /** "agent". */
  noun: string;
  name: string;
  path: string;
  /** What goes with it, in a sentence. */
  lost: string;
  onDone: () => Promise<void>;
};

export function DeleteSection({ noun, name, path, lost, onDone }: DeleteSectionProps) {
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
          path={path}
          action={`Delete ${noun}`}
          onClose={() => setDeleting(false)}
          onDone={() => {
            toast(`“${name}” is deleted.`);
            return onDone();
          }}
        />
      )}
    </section>
  );
}
