// The open panel of a button.
import { Popover as Base } from "@base-ui/react/popover";
import type { ReactNode, RefObject } from "react";

/** A panel stays in the part of the page that its button is in. */
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
        // A press on the button closes by the button's own click.
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
          // Its first focus comes before its place is known: from the window's corner that scrolls nothing.
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
