// Asks for confirmation before leaving unsaved changes.
import { useBlocker } from "@tanstack/react-router";
import type { RefObject } from "react";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";

type LeaveGuardProps = {
  isDirty: boolean;
  /** True when leaving is intended, for example after deleting the test. */
  leaving: RefObject<boolean>;
};

export function LeaveGuard({ isDirty, leaving }: LeaveGuardProps) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && !leaving.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty && !leaving.current,
    withResolver: true,
  });
  if (status !== "blocked") return null;
  return (
    <Dialog title="Leave without saving?" about="Your unsaved changes will be lost." alert onClose={reset}>
      <div className="line line-end">
        <Button look="danger" onClick={proceed}>
          Leave
        </Button>
        <Button look="main" onClick={reset}>
          Stay
        </Button>
      </div>
    </Dialog>
  );
}
