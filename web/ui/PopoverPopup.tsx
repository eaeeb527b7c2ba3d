// The panel of a popover button, loaded on first use.
import { Popover as Base } from "@base-ui/react/popover";
import { type ReactNode, useRef } from "react";
import { closeUnlessOn, landmarkOf, type PopupTrigger, placement } from "./popup.ts";

type PopoverPopupProps = {
  trigger: PopupTrigger;
  title: string;
  holds: boolean;
  onClose: () => void;
  children: ReactNode;
};

export default function PopoverPopup({ trigger, title, holds, onClose, children }: PopoverPopupProps) {
  const popup = useRef<HTMLDivElement>(null);
  const close = closeUnlessOn(trigger, onClose);
  return (
    <Base.Root
      open
      onOpenChange={(open, details) => {
        const { event, reason } = details;
        const isEscapeHere = reason === "escape-key" && popup.current?.contains(event.target as Node);
        if (!holds || isEscapeHere) return close(open, details);
        details.cancel();
        details.allowPropagation();
      }}
    >
      <Base.Portal className="menu-portal" container={landmarkOf(trigger)}>
        <Base.Positioner {...placement} anchor={trigger}>
          <Base.Popup ref={popup} className="menu" finalFocus={trigger} aria-label={title}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
