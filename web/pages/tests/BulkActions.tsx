// Bulk actions for the selected tests.
import { useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { counted } from "../../labels.ts";
import { BulkBar } from "../../ui/BulkBar.tsx";
import { Button } from "../../ui/Button.tsx";
import type { TestActions } from "./TestRow.tsx";

type BulkActionsProps = { chosen: readonly ListedTest[]; actions: TestActions; onClear: () => void };

export function BulkActions({ chosen, actions, onClear }: BulkActionsProps) {
  const [busy, setBusy] = useState<"active" | "disabled">();
  if (chosen.length === 0) return null;
  const setStatus = async (status: "active" | "disabled") => {
    setBusy(status);
    await actions.setStatus(chosen, status);
    setBusy(undefined);
  };
  return (
    <BulkBar label="Actions for the selected tests" count={counted(chosen.length, "test")} onClear={onClear}>
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
    </BulkBar>
  );
}
