// The part of the form for manual runs: repeats, and the inputs, each of which replaces the user message.
import { useEffect, useRef, useState } from "react";
import { download } from "../../download.ts";
import { numberText } from "../../format.ts";
import { withSources } from "../../forms/test-changes.ts";
import { counted } from "../../labels.ts";
import { Button } from "../../ui/Button.tsx";
import { Fault } from "../../ui/Field.tsx";
import { closeNotLoaded, lazyPart, toastNotLoaded } from "../../ui/lazy-part.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { toast } from "../../ui/Toast.tsx";
import type { Doc } from "./document.ts";
import { useEditorContext, useFaultOf } from "./editor-context.ts";
import { NumberLine } from "./fields.tsx";
import { inputsMax } from "./inputs/candidates.ts";
import { InputsTable } from "./inputs/InputsTable.tsx";
import { extended, type Rows, rowsOf, runsText, textOf, withoutAdded, withRemoved } from "./inputs/rows.ts";
import "../../styles/inputs.css";

const ImportInputs = lazyPart(
  async () => ({ default: (await import("./inputs/ImportInputs.tsx")).ImportInputs }),
  closeNotLoaded,
);
const PickInputs = lazyPart(
  async () => ({ default: (await import("./inputs/PickInputs.tsx")).PickInputs }),
  closeNotLoaded,
);

type ManualRunsProps = { agentId: string; document: Doc };

export function ManualRuns({ agentId, document }: ManualRunsProps) {
  const { change } = useEditorContext();
  const set = (name: string) => (value: unknown) => change({ kind: "field", name, value });
  const { turns, inputs, repeats } = document;
  const rows = rowsOf(inputs);
  const turnCount = Array.isArray(turns) ? turns.length : 0;
  const runs = runsText(rows?.length ?? 0, repeats);
  return (
    <div className="stack">
      {rows === undefined ? (
        <p className="quiet" data-path="inputs">
          “inputs” is not a list. Fix it in the JSON.
        </p>
      ) : (
        <Inputs
          agentId={agentId}
          rows={rows}
          // No rows are the same as no field.
          onRows={next => set("inputs")(next.length > 0 ? next : undefined)}
          onPicked={traceIds => set("draftedFrom")(withSources(document["draftedFrom"], traceIds))}
          turnCount={turnCount}
          onFirstTurn={() => set("turns")(Array.isArray(turns) ? turns.slice(0, 1) : turns)}
        />
      )}
      <div className="inputs-repeats">
        <NumberLine
          label="Repeats"
          hint="Sends each input this many times, up to 20, to see how often it passes. Empty: once."
          path="repeats"
          value={repeats}
          onValue={set("repeats")}
          min={1}
          max={20}
        />
      </div>
      {runs !== undefined && <p className="inputs-runs">{runs}</p>}
    </div>
  );
}

type InputsProps = {
  agentId: string;
  rows: Rows;
  onRows: (rows: unknown[]) => void;
  /** Called with the traces that inputs were added from. */
  onPicked: (traceIds: string[]) => void;
  turnCount: number;
  /** Removes all turns but the first. */
  onFirstTurn: () => void;
};

function Inputs({ agentId, rows, onRows, onPicked, turnCount, onFirstTurn }: InputsProps) {
  const { focusInput } = useEditorContext();
  const { fault } = useFaultOf("inputs", {});
  const [open, setOpen] = useState<"import" | "pick">();
  const close = () => setOpen(undefined);
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  /** `kept`: the rows before the inputs. `note`: what was left out. */
  const put = (kept: Rows, inputs: readonly string[], note = "") => {
    close();
    onRows(extended(kept, inputs));
    const replaced = kept === rows ? [] : rows;
    toast(`Added ${counted(inputs.length, "input")}. ${note}`, {
      label: "Undo",
      run: () => onRows(withRemoved(withoutAdded(latest.current, inputs), replaced)),
    });
  };
  const removeAll = () => {
    onRows([]);
    toast(`Removed ${counted(rows.length, "input")}`, {
      label: "Undo",
      run: () => onRows(withRemoved(latest.current, rows)),
    });
  };
  const texts = rows.map(textOf);
  if (rows.length === 0 && turnCount > 1) {
    return (
      <p className="quiet small" data-path="inputs">
        A table of inputs needs a test with one turn.
      </p>
    );
  }
  return (
    <div className="stack-tight" data-path="inputs">
      <div className="line line-apart">
        <h3>Inputs{rows.length > 0 && <span className="quiet"> {numberText(rows.length)}</span>}</h3>
        {rows.length > 0 && <RowsTools texts={texts} onRemoveAll={removeAll} />}
      </div>
      {rows.length === 0 && (
        <p className="quiet small">
          With inputs, a manual run sends each of them in place of the user message, as a test run of its own.
        </p>
      )}
      {rows.length > 0 && turnCount !== 1 && (
        <SeveralTurns turnCount={turnCount} onRemoveInputs={() => onRows([])} onFirstTurn={onFirstTurn} />
      )}
      <InputsTable rows={rows} onRows={onRows} />
      {turnCount === 1 && <Fault id="inputs-fault" fault={fault} />}
      <div className="line">
        <Button
          icon="plus"
          small
          busy={rows.length >= inputsMax}
          onClick={() => {
            onRows([...rows, { input: "" }]);
            focusInput(rows.length);
          }}
        >
          Add input
        </Button>
        <Button small onClick={() => setOpen("import")}>
          Import…
        </Button>
        <Button small onClick={() => setOpen("pick")}>
          Pick from traces…
        </Button>
      </div>
      {open === "import" && (
        <ImportInputs
          known={texts}
          onClose={close}
          onImport={(inputs, replace) => put(replace ? [] : rows, inputs)}
        />
      )}
      {open === "pick" && (
        <PickInputs
          agentId={agentId}
          known={texts}
          onClose={close}
          onPick={(inputs, note, traceIds) => {
            put(rows, inputs, note);
            onPicked(traceIds);
          }}
        />
      )}
    </div>
  );
}

type RowsToolsProps = { texts: readonly string[]; onRemoveAll: () => void };

function RowsTools({ texts, onRemoveAll }: RowsToolsProps) {
  return (
    <div className="line">
      <Button
        small
        look="plain"
        icon="download"
        onClick={() =>
          void import("./inputs/write-csv.ts").then(
            ({ inputsCsv }) => download("inputs.csv", inputsCsv(texts), "text/csv"),
            toastNotLoaded,
          )
        }
      >
        Export CSV
      </Button>
      <Button small look="plain" icon="trash" onClick={onRemoveAll}>
        Remove all
      </Button>
    </div>
  );
}

type SeveralTurnsProps = { turnCount: number; onRemoveInputs: () => void; onFirstTurn: () => void };

/** Inputs replace the message of the only turn, so one of the two has to go. */
function SeveralTurns({ turnCount, onRemoveInputs, onFirstTurn }: SeveralTurnsProps) {
  return (
    <Notice tone="warn" role="alert">
      <div className="stack-tight">
        <p>
          Inputs need exactly one turn. This test has {turnCount === 0 ? "none" : turnCount}.
          {turnCount === 0 && " Add one above."}
        </p>
        {turnCount > 1 && (
          <div className="line">
            <Button small onClick={onFirstTurn}>
              Keep turn 1 only
            </Button>
            <Button small onClick={onRemoveInputs}>
              Remove the inputs
            </Button>
          </div>
        )}
      </div>
    </Notice>
  );
}
