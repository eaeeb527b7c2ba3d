// A button that opens a small panel. The panel's code is loaded on first use.
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { Button, type ButtonProps } from "./Button.tsx";

const load = () => import("./PopoverPopup.tsx");
const PopoverPopup = lazy(load);

type PopoverProps = Omit<ButtonProps, "onClick" | "ref"> & {
  /** Accessible name of the panel. */
  title: string;
  /** The content; `close` closes the panel and returns the focus. */
  panel: (close: () => void) => ReactNode;
};

export function Popover({ title, panel, ...button }: PopoverProps) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        {...button}
        ref={trigger}
        aria-haspopup="dialog"
        aria-expanded={open}
        onPointerEnter={() => void load()}
        onFocus={() => void load()}
        onClick={() => setOpen(!open)}
      />
      {open && (
        <Suspense>
          <PopoverPopup trigger={trigger} title={title} onClose={close}>
            {panel(close)}
          </PopoverPopup>
        </Suspense>
      )}
    </>
  );
}
