// The panel of a popover button, loaded on first use.
import { Popover as Base } from "@base-ui/react/popover";
import type { ReactNode } from "react";
import { closeUnlessOn, landmarkOf, type PopupTrigger, placement } from "./popup.ts";

type PopoverPopupProps = {
  trigger: PopupTrigger;
  title: string;
  onClose: () => void;
  children: ReactNode;
};

export default function PopoverPopup({ trigger, title, onClose, children }: PopoverPopupProps) {
  return (
    <Base.Root open onOpenChange={closeUnlessOn(trigger, onClose)}>
      <Base.Portal className="menu-portal" container={landmarkOf(trigger)}>
        <Base.Positioner {...placement} anchor={trigger}>
          <Base.Popup className="menu" finalFocus={trigger} aria-label={title}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
