// Bulk actions for selected rows; floats over the end of the list, so that rows do not move.
import type { ReactNode } from "react";
import { Button } from "./Button.tsx";

type BulkBarProps = {
  /** Accessible name: "Actions for the selected tests". */
  label: string;
  /** "3 tests". */
  count: string;
  children: ReactNode;
  onClear: () => void;
};

export function BulkBar({ label, count, children, onClear }: BulkBarProps) {
  return (
    <section className="bulk-bar" aria-label={label}>
      <span role="status">
        <strong>{count}</strong> selected
      </span>
      {children}
      <Button small look="plain" icon="cross" onClick={onClear}>
        Clear selection
      </Button>
    </section>
  );
}
