// Asks for confirmation before leaving a page with unsaved changes, once for all of its forms.
import { useBlocker } from "@tanstack/react-router";
import { hasUnsavedChanges, useHasUnsavedChanges } from "../forms/unsaved.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";

type Paths = { current: { pathname: string }; next: { pathname: string } };

const leavesChanges = ({ current, next }: Paths) => hasUnsavedChanges() && current.pathname !== next.pathname;

export function LeaveGuard() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: leavesChanges,
    enableBeforeUnload: hasUnsavedChanges,
    // A blocker that is there delays every navigation.
    disabled: !useHasUnsavedChanges(),
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
