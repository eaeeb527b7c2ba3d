// Modal dialog that traps the focus and returns it when closed.
import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Button } from "./Button.tsx";

export type DialogProps = {
  title: string;
  /** One sentence under the title. */
  about?: ReactNode;
  onClose: () => void;
  /** False: only a button in the dialog closes it, not Esc or a click outside. */
  dismissible?: boolean;
  /** A panel at the left edge. */
  drawer?: boolean;
  /** For confirmations of destructive actions. */
  alert?: boolean;
  children: ReactNode;
};

/** Numbers of the dialogs on the page, in the order in which they were opened. */
const openDialogs = new Set<number>();
let opened = 0;

/** Whether no other dialog covers this one. */
function useIsOnTop(): () => boolean {
  const [number] = useState(() => ++opened);
  useLayoutEffect(() => {
    openDialogs.add(number);
    return () => void openDialogs.delete(number);
  }, [number]);
  return () => number === Math.max(...openDialogs);
}

/** Open while it is rendered. */
export function Dialog({ title, about, onClose, dismissible = true, drawer, alert, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  const [opener] = useState(() => document.activeElement as HTMLElement | null);
  const isOnTop = useIsOnTop();
  return (
    <Base.Root
      open
      disablePointerDismissal={!dismissible || alert === true}
      onOpenChange={(open, details) => {
        if (open) return;
        // A dialog that opened over this one may not have the focus yet: Esc is for that one.
        if (!isOnTop()) {
          details.cancel();
          details.allowPropagation();
        } else if (dismissible) onClose();
        else details.cancel();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          ref={popup}
          initialFocus={() =>
            popup.current?.querySelector<HTMLElement>("input:not([readonly]), textarea") ?? true
          }
          finalFocus={() => {
            // Opened by a key while no control had the focus. Given the body, WebKit would scroll to the end of the page;
            // given the main element, Base UI would focus its first link instead.
            const isPage = opener === null || opener === document.body || opener.id === "main";
            // The opener was removed by the action, and not as part of a previous dialog.
            const isGone = opener?.isConnected === false && opener.closest("[role$=dialog]") === null;
            const target = isPage || isGone ? document.getElementById("main") : opener;
            if (!target?.isConnected) return true;
            // Base UI would focus it too, but WebKit scrolls to what is focused unless it is told not to.
            target.focus({ preventScroll: true });
            return false;
          }}
          className={drawer ? "dialog drawer" : "dialog"}
          role={alert ? "alertdialog" : "dialog"}
        >
          <div className="dialog-top">
            <Base.Title>{title}</Base.Title>
            {dismissible && (
              <Base.Close render={<Button look="plain" icon="cross" small aria-label="Close" />} />
            )}
          </div>
          {about && <Base.Description className="break">{about}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
