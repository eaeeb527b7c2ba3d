// A button that opens a form for a note.
import type { FormEvent } from "react";
import { Button } from "../ui/Button.tsx";
import { Popover } from "../ui/Popover.tsx";

/** `onSave` says whether the note was saved; then the form closes. */
type NotePopoverProps = { note: string; busy: boolean; onSave: (note: string) => Promise<boolean> };

export function NotePopover({ note, busy, onSave }: NotePopoverProps) {
  const submit = async (event: FormEvent<HTMLFormElement>, close: () => void) => {
    event.preventDefault();
    if (await onSave(String(new FormData(event.currentTarget).get("note")))) close();
  };
  return (
    <Popover
      small
      look="plain"
      title="Note"
      panel={close => (
        <form className="panel-form" onSubmit={event => void submit(event, close)}>
          <label className="stack-tight">
            Note
            <textarea
              className="input note-input"
              name="note"
              rows={4}
              maxLength={2_000}
              defaultValue={note}
            />
          </label>
          <Button type="submit" busy={busy}>
            Save note
          </Button>
        </form>
      )}
    >
      {note === "" ? "Add note" : "Edit note"}
    </Popover>
  );
}
