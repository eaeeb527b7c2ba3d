// Dialog of the command palette. Its search field takes what is typed while the rest of its code loads.
import { useState } from "react";
import type { Project } from "../../src/http/projects/schemas.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { closeNotLoaded, lazyPart } from "../ui/lazy-part.tsx";

const Palette = lazyPart(
  () => import("./Palette.tsx"),
  closeNotLoaded,
  ({ text, onText, input }) => (
    <input {...input} value={text} onChange={({ target }) => onText(target.value)} />
  ),
);

type PaletteDialogProps = { project: Project | undefined; onClose: () => void; onHelp: () => void };

export function PaletteDialog({ project, onClose, onHelp }: PaletteDialogProps) {
  const [text, setText] = useState("");
  return (
    <Dialog title="Go to…" onClose={onClose}>
      <Palette {...{ project, text, onClose, onHelp }} onText={setText} input={field} />
    </Dialog>
  );
}

const field = {
  className: "input",
  "aria-label": "Search pages and actions",
  placeholder: "A page, agent, test, trace ID or action",
  ref: focusAtEnd,
};

/** Typing goes on where it was when the code has loaded. */
function focusAtEnd(input: HTMLInputElement | null): void {
  input?.focus({ preventScroll: true });
  input?.setSelectionRange(input.value.length, input.value.length);
}
