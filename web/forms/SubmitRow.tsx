// The end of a form: why sending it failed, and the button that sends it.
import type { ReactNode } from "react";
import type { Failure } from "../api.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice } from "../ui/Notice.tsx";

type SubmitRowProps = {
  failure?: Failure | undefined;
  busy: boolean;
  look?: "main" | "danger";
  /** Closes the dialog of the form. */
  onCancel?: () => void;
  /** The label of the button. */
  children: ReactNode;
};

export function SubmitRow({ failure, busy, look = "main", onCancel, children }: SubmitRowProps) {
  return (
    <>
      <FailureNotice failure={failure} />
      <div className="line line-end">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button type="submit" look={look} busy={busy}>
          {children}
        </Button>
      </div>
    </>
  );
}
