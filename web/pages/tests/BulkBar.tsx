// Bulk actions for the selected tests; floats over the end of the list, so that rows do not move.
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import type { TestActions } from "./TestRow.tsx";

type BulkBarProps = { chosen: readonly ListedTest[]; actions: TestActions; onClear: () => void };

export function BulkBar({ chosen, actions, onClear }: BulkBarProps) {
  const [busy, setBusy] = useState<"active" | "disabled">();
  if (chosen.length === 0) return null;
  const setStatus = async (status: "active" | "disabled") => {
    setBusy(status);
    await actions.setStatus(chosen, status);
    setBusy(undefined);
  };
  return (
    <section className="tests-bulk" aria-label="Actions for the selected tests">
      <span role="status">
        <strong>{counted(chosen.length, "test")}</strong> selected
      </span>
      <Button small icon="play" onClick={() => actions.run(chosen)}>
        Run
      </Button>
      <Button small busy={busy !== undefined} onClick={() => void setStatus("active")}>
        Activate
      </Button>
      <Button small busy={busy !== undefined} onClick={() => void setStatus("disabled")}>
        Disable
      </Button>
      <Button small onClick={() => actions.exportAll(chosen)}>
        Export as JSON
      </Button>
      <Button small icon="trash" onClick={() => actions.remove(chosen)}>
        Delete…
      </Button>
      <Button small look="plain" icon="cross" onClick={onClear}>
        Clear selection
      </Button>
    </section>
  );
}
