// A button that opens a form for a note.
import { type FormEvent, useEffect, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Popover } from "../ui/Popover.tsx";
import { useUnsavedChanges } from "./unsaved.ts";

/** `onSave` says whether the note was saved; then the form closes. */
type NotePopoverProps = { note: string; busy: boolean; onSave: (note: string) => Promise<boolean> };

export function NotePopover({ note, busy, onSave }: NotePopoverProps) {
  const [typed, setTyped] = useState<string>();
  const isChanged = typed !== undefined && typed !== note;
  useUnsavedChanges(isChanged);
  return (
    <Popover
      small
      look="plain"
      title="Note"
      holds={isChanged}
      panel={close => <NoteForm note={note} busy={busy} onSave={onSave} onType={setTyped} onClose={close} />}
    >
      {note === "" ? "Add note" : "Edit note"}
    </Popover>
  );
}

type NoteFormProps = NotePopoverProps & { onType: (text: string | undefined) => void; onClose: () => void };

function NoteForm({ note, busy, onSave, onType, onClose }: NoteFormProps) {
  useEffect(() => () => onType(undefined), [onType]);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (await onSave(String(new FormData(event.currentTarget).get("note")))) onClose();
  };
  return (
    <form className="panel-form" onSubmit={event => void submit(event)}>
      <label className="stack-tight">
        Note
        <textarea
          className="input note-input"
          name="note"
          rows={4}
          maxLength={2_000}
          defaultValue={note}
          onChange={({ target }) => onType(target.value)}
        />
      </label>
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="main" busy={busy}>
          Save note
        </Button>
      </div>
    </form>
  );
}
