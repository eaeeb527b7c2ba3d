// The end of a form: why sending it failed, and the button that sends it.
import type { ReactNode } from "react";
import type { Failure } from "../api.ts";
import { Button } from "../ui/Button.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { OutdatedNotice } from "./OutdatedNotice.tsx";
import type { Drafted } from "./use-draft.ts";

type SubmitRowProps = {
  failure?: Failure | undefined;
  busy: boolean;
  /** Of a form that edits saved settings. */
  draft?: Drafted | undefined;
  look?: "main" | "danger";
  /** Closes the dialog of the form. */
  onCancel?: () => void;
  /** The label of the button. */
  children: ReactNode;
};

export function SubmitRow({ failure, busy, draft, look = "main", onCancel, children }: SubmitRowProps) {
  return (
    <>
      <FailureNotice failure={failure} />
      {draft && <OutdatedNotice isOutdated={draft.isOutdated} />}
      <div className="line line-end">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        {draft?.isChanged && <Button onClick={draft.discard}>Discard changes</Button>}
        <Button type="submit" look={look} busy={busy}>
          {children}
        </Button>
      </div>
    </>
  );
}
