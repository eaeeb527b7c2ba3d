// A button that opens a small panel. The panel's code is loaded on first use.
import type { ReactNode } from "react";
import { Button, type ButtonProps } from "./Button.tsx";
import { closeNotLoaded, lazyPart } from "./lazy-part.tsx";
import { usePopup } from "./popup.ts";

const load = () => import("./PopoverPopup.tsx");
const PopoverPopup = lazyPart(load, closeNotLoaded);

type PopoverProps = Omit<ButtonProps, "onClick" | "ref"> & {
  /** Accessible name of the panel. */
  title: string;
  /** Only its buttons and Esc in it close the panel: it has unsaved text. */
  holds?: boolean;
  /** The content; `close` closes the panel and returns the focus. */
  panel: (close: () => void) => ReactNode;
};

export function Popover({ title, holds = false, panel, ...button }: PopoverProps) {
  const popup = usePopup(load);
  return (
    <>
      <Button {...button} {...popup.button} aria-haspopup="dialog" />
      {popup.open && (
        <PopoverPopup trigger={popup.trigger} title={title} holds={holds} onClose={popup.close}>
          {panel(popup.close)}
        </PopoverPopup>
      )}
    </>
  );
}
