// What menus and popovers have in common: the button that opens a popup loaded on first use, and where the popup appears.
import { type RefObject, useRef, useState } from "react";

export type PopupTrigger = RefObject<HTMLButtonElement | null>;

/** `load` loads the popup's code: when the button is about to be used. Opening it tries again, and says so if it fails. */
export function usePopup(load: () => Promise<unknown>) {
  const preload = () => void load().catch(() => {});
  const trigger = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  return {
    trigger,
    open,
    close: () => setOpen(false),
    button: {
      ref: trigger,
      "aria-expanded": open,
      onPointerEnter: preload,
      onFocus: preload,
      onClick: () => setOpen(!open),
    },
  };
}

/** For `onOpenChange`. A press on the button is handled by the button's own click. */
export function closeUnlessOn(trigger: PopupTrigger, onClose: () => void) {
  return (open: boolean, { event }: { event: Event }) => {
    const onTrigger = event.target instanceof Node && trigger.current?.contains(event.target);
    if (!open && !onTrigger) onClose();
  };
}

/** A popup is rendered in the same landmark as its button. */
export function landmarkOf(trigger: PopupTrigger): HTMLElement | null {
  return trigger.current?.closest<HTMLElement>("nav, main, [role=dialog], [role=alertdialog]") ?? null;
}

/**
 * Fixed at the window: when the window gets narrower, the popup must not widen the page, and focusing a popover before
 * it is positioned must not scroll the page.
 */
export const placement = {
  className: "menu-layer",
  positionMethod: "fixed",
  sideOffset: 4,
  align: "start",
  collisionPadding: 8,
} as const;
