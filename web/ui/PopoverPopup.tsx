// The panel of a popover button, loaded on first use.
import { Popover as Base } from "@base-ui/react/popover";
import type { ReactNode, RefObject } from "react";

/** The panel is rendered in the same landmark as its button. */
const landmarks = "nav, main, [role=dialog], [role=alertdialog]";

type PopoverPopupProps = {
  trigger: RefObject<HTMLButtonElement | null>;
  title: string;
  onClose: () => void;
  children: ReactNode;
};

export default function PopoverPopup({ trigger, title, onClose, children }: PopoverPopupProps) {
  return (
    <Base.Root
      open
      onOpenChange={(open, details) => {
        // A press on the button is handled by the button's own click.
        const onTrigger =
          details.event.target instanceof Node && trigger.current?.contains(details.event.target);
        if (!open && !onTrigger) onClose();
      }}
    >
      <Base.Portal
        className="menu-portal"
        container={trigger.current?.closest<HTMLElement>(landmarks) ?? null}
      >
        <Base.Positioner
          anchor={trigger}
          className="menu-layer"
          // It is focused before it is positioned: fixed at the window's corner, that does not scroll the page.
          positionMethod="fixed"
          sideOffset={4}
          align="start"
          collisionPadding={8}
        >
          <Base.Popup className="menu" finalFocus={trigger} aria-label={title}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
