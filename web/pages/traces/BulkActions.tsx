// Actions for the selected traces: re-evaluate, add to a test's inputs, export, delete.
import { type ReactNode, useState } from "react";
import type { JudgedAgain } from "../../../src/http/judge/schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { download } from "../../download.ts";
import { numberText } from "../../format.ts";
import { ConfirmDialog } from "../../forms/ConfirmDialog.tsx";
import { counted } from "../../labels.ts";
import { reevaluate } from "../../mutations/judge.ts";
import {
  bulkMax,
  deleteTraces,
  type ExportFormat,
  exportFormats,
  exportTraces,
} from "../../mutations/traces.ts";
import type { TraceRow } from "../../queries/use-trace-list.ts";
import { BulkBar } from "../../ui/BulkBar.tsx";
import { Button } from "../../ui/Button.tsx";
import { closeNotLoaded, lazyPart } from "../../ui/lazy-part.tsx";
import { Menu } from "../../ui/Menu.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { toast } from "../../ui/Toast.tsx";
import { NotReevaluated } from "./NotReevaluated.tsx";

const AddToTest = lazyPart(() => import("./AddToTest.tsx"), closeNotLoaded);

type BulkActionsProps = {
  params: { projectId: string; agentId: string };
  chosen: readonly TraceRow[];
  onDeleted: (ids: string[]) => void;
  onClear: () => void;
};

export function BulkActions({ params, chosen, onDeleted, onClear }: BulkActionsProps) {
  const { agentId } = params;
  const [open, setOpen] = useState<"delete" | "add">();
  const { busy, failure, run } = useAction();
  const [refused, setRefused] = useState<JudgedAgain["refused"]>([]);
  const ids = chosen.map(({ id }) => id);
  const count = counted(ids.length, "trace");
  const again = () =>
    run(
      () => reevaluate(agentId, { traceIds: ids }),
      ({ scheduled, refused }) => {
        if (scheduled > 0) toast(`Re-evaluating ${counted(scheduled, "trace")}`);
        setRefused(refused);
      },
    );
  const exportAs = (format: ExportFormat) =>
    run(
      () => exportTraces(agentId, ids, format),
      ({ file, headers }) => {
        download(`traces.${format}`, file, exportFormats[format].type);
        toast(`Exported ${counted(Number(headers.get("x-trace-count")), "trace")}`);
      },
    );
  const close = () => setOpen(undefined);
  return (
    <>
      {ids.length > 0 && (
        <BulkBar label="Actions for the selected traces" count={count} onClear={onClear}>
          {ids.length > bulkMax ? (
            <span>Select at most {numberText(bulkMax)}</span>
          ) : (
            <>
              <Button small busy={busy} onClick={again}>
                Re-evaluate
              </Button>
              <Button small onClick={() => setOpen("add")}>
                Add to test…
              </Button>
              <Export busy={busy} onExport={exportAs} />
              <Button small icon="trash" onClick={() => setOpen("delete")}>
                Delete…
              </Button>
            </>
          )}
          <FailureNotice failure={failure} />
        </BulkBar>
      )}
      {open === "add" && <AddToTest agentId={agentId} traceIds={ids} onClose={close} />}
      {open === "delete" && <DeleteTraces agentId={agentId} ids={ids} onDone={onDeleted} onClose={close} />}
      {refused.length > 0 && (
        <NotReevaluated params={params} refused={refused} chosen={chosen} onClose={() => setRefused([])} />
      )}
    </>
  );
}

/** One request at a time, and why the last one failed. */
function useAction() {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const start = async <T,>(send: () => Promise<Answer<T>>, done: (value: T) => void) => {
    setBusy(true);
    setFailure(undefined);
    const answer = await send();
    setBusy(false);
    if (answer.ok) done(answer.value);
    else setFailure(answer.failure);
  };
  return {
    busy,
    failure,
    run: <T,>(send: () => Promise<Answer<T>>, done: (value: T) => void) => void start(send, done),
  };
}

function Export({ busy, onExport }: { busy: boolean; onExport: (format: ExportFormat) => void }): ReactNode {
  return (
    <Menu
      small
      busy={busy}
      icon="download"
      entries={Object.entries(exportFormats).map(([format, { label }]) => ({
        kind: "action" as const,
        label,
        onChoose: () => onExport(format as ExportFormat),
      }))}
    >
      Export
    </Menu>
  );
}

type DeleteTracesProps = {
  agentId: string;
  ids: string[];
  onDone: (ids: string[]) => void;
  onClose: () => void;
};

function DeleteTraces({ agentId, ids, onDone, onClose }: DeleteTracesProps) {
  // Fixed when the dialog opens: rows may be removed in the meantime.
  const [doomed] = useState(ids);
  const title = `Delete ${counted(doomed.length, "trace")}`;
  return (
    <ConfirmDialog
      title={title}
      about="Also deletes spans, runs and results, and test runs that have such a trace as a turn. Past statistics are kept. This cannot be undone."
      name={String(doomed.length)}
      send={async () => {
        const answer = await deleteTraces(agentId, doomed);
        if (!answer.ok) return answer;
        toast(`${counted(answer.value.deleted, "trace")} deleted`);
        return { ok: true, value: undefined };
      }}
      action={title}
      onClose={onClose}
      onDone={() => {
        onClose();
        onDone(doomed);
      }}
    />
  );
}
