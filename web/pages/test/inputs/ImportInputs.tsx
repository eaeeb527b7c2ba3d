// Dialog that imports inputs from a CSV or JSON lines file: shows what will be added and what is left out, and why.
import { useRef, useState } from "react";
import { numberText } from "../../../format.ts";
import { counted } from "../../../labels.ts";
import { Button } from "../../../ui/Button.tsx";
import { Dialog } from "../../../ui/Dialog.tsx";
import { Choices, Field } from "../../../ui/Field.tsx";
import { forgetFile, unreadableFile } from "../../../ui/file-input.ts";
import { Notice } from "../../../ui/Notice.tsx";
import { limitText, type Sorted, sortCandidates } from "./candidates.ts";
import {
  type Csv,
  type CsvChoice,
  columnNames,
  columnOf,
  csvCandidates,
  guessChoice,
  readCsv,
  type Separator,
} from "./read-csv.ts";
import { decodeFile, fileBytesMax, readSource } from "./read-file.ts";
import { guessField, type Jsonl, jsonlCandidates } from "./read-jsonl.ts";

type ImportInputsProps = {
  /** The inputs of the test, blank ones included. */
  known: readonly string[];
  onImport: (inputs: string[], replace: boolean) => void;
  onClose: () => void;
};

/** A file with the choices about it. */
type ChosenCsv = { kind: "csv"; source: Csv; text: string; choice: CsvChoice };
type ChosenJsonl = { kind: "jsonl"; source: Jsonl; field: string | undefined };
type Chosen = ChosenCsv | ChosenJsonl;

const previewRows = 5;
const shownFaults = 10;

export function ImportInputs({ known, onImport, onClose }: ImportInputsProps) {
  const [chosen, setChosen] = useState<Chosen>();
  const [fault, setFault] = useState<string>();
  const [how, setHow] = useState<"add" | "replace">("add");
  const kept = known.filter(input => /\S/.test(input));
  const isReplacing = how === "replace" && kept.length > 0;
  const sorted = chosen && sortCandidates(candidatesOf(chosen), isReplacing ? [] : kept);

  const latest = useRef<File>(undefined);
  const choose = async (file: File | undefined) => {
    setChosen(undefined);
    setFault(undefined);
    latest.current = file;
    if (!file) return;
    if (file.size > fileBytesMax) return setFault("This file is larger than 20 MB. Choose a smaller one.");
    const bytes = await file.arrayBuffer().catch(() => undefined);
    if (file !== latest.current) return;
    if (!bytes) return setFault(unreadableFile);
    const decoded = decodeFile(new Uint8Array(bytes));
    if (!decoded.ok) return setFault(decoded.fault);
    setChosen(chosenOf(readSource(file.name, decoded.text), decoded.text));
  };
  return (
    <Dialog
      title="Import inputs"
      about="Choose a CSV file, or JSON lines with a text or an object on each line."
      onClose={onClose}
    >
      <Field
        label="File"
        name="file"
        type="file"
        accept=".csv,.tsv,.txt,.jsonl,.ndjson,.json,text/csv,application/json"
        onClick={forgetFile}
        onChange={event => void choose(event.target.files?.[0])}
        fault={fault}
      />
      {chosen?.kind === "csv" && <CsvOptions chosen={chosen} onChange={setChosen} />}
      {chosen?.kind === "jsonl" && <JsonlOptions chosen={chosen} onChange={setChosen} />}
      {chosen && sorted && (
        <>
          <Preview inputs={sorted.inputs} />
          <LeftOut sorted={sorted} unit={chosen.kind === "jsonl" ? chosen.source.unit : "line"} />
          {kept.length > 0 && (
            <Choices
              name="how"
              label={`The test has ${counted(kept.length, "input")}`}
              choices={[
                { value: "add", label: "Keep and add" },
                { value: "replace", label: "Replace" },
              ]}
              chosen={[how]}
              onChoose={([one]) => setHow(one!)}
            />
          )}
        </>
      )}
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        {sorted && sorted.inputs.length > 0 && (
          <Button look="main" onClick={() => onImport(sorted.inputs, isReplacing)}>
            Import {counted(sorted.inputs.length, "input")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function chosenOf(source: Csv | Jsonl, text: string): Chosen {
  return source.kind === "csv"
    ? { kind: "csv", source, text, choice: guessChoice(source) }
    : { kind: "jsonl", source, field: guessField(source) };
}

function candidatesOf(chosen: Chosen) {
  return chosen.kind === "jsonl"
    ? jsonlCandidates(chosen.source, chosen.field)
    : csvCandidates(chosen.source, chosen.choice);
}

const separators: Record<Separator, string> = {
  ",": "Comma",
  ";": "Semicolon",
  "\t": "Tab",
  none: "None: one input per line",
};

type CsvOptionsProps = { chosen: ChosenCsv; onChange: (chosen: Chosen) => void };

function CsvOptions({ chosen, onChange }: CsvOptionsProps) {
  const { source, text, choice } = chosen;
  const names = columnNames(source, choice.hasHeader);
  return (
    <>
      <div className="inputs-options">
        <Select
          label="Separator"
          value={source.separator}
          options={separators}
          onChoose={separator => onChange(chosenOf(readCsv(text, separator as Separator), text))}
        />
        {names.length > 1 && (
          <Select
            label="Column"
            value={String(choice.column)}
            options={Object.fromEntries(names.map((name, at) => [String(at), name]))}
            onChoose={column => onChange({ ...chosen, choice: { ...choice, column: Number(column) } })}
          />
        )}
      </div>
      <label className="choice">
        <input
          type="checkbox"
          checked={choice.hasHeader}
          onChange={({ target: { checked } }) =>
            onChange({ ...chosen, choice: { hasHeader: checked, column: columnOf(source.rows, checked) } })
          }
        />
        <span>First row is a header</span>
      </label>
    </>
  );
}

type JsonlOptionsProps = { chosen: ChosenJsonl; onChange: (chosen: Chosen) => void };

function JsonlOptions({ chosen, onChange }: JsonlOptionsProps) {
  const { source, field } = chosen;
  if (source.fields.length < 2) return null;
  return (
    <div className="inputs-options">
      <Select
        label="Field"
        value={field ?? ""}
        options={Object.fromEntries(source.fields.map(name => [name, name]))}
        onChoose={name => onChange({ ...chosen, field: name })}
      />
    </div>
  );
}

type SelectProps = {
  label: string;
  value: string;
  options: Record<string, string>;
  onChoose: (value: string) => void;
};

function Select({ label, value, options, onChoose }: SelectProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <select className="input" value={value} onChange={({ target }) => onChoose(target.value)}>
        {Object.entries(options).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The first inputs, each on at most two lines. */
function Preview({ inputs }: { inputs: readonly string[] }) {
  if (inputs.length === 0) return <Notice tone="warn">Nothing to import from this file.</Notice>;
  const more = inputs.length - previewRows;
  return (
    <div className="stack-tight">
      <p role="status">
        <b>{counted(inputs.length, "new input")}</b>
      </p>
      <ol className="inputs-preview" aria-label="First inputs">
        {inputs.slice(0, previewRows).map((input, at) => (
          <li key={at} dir="auto">
            {input.slice(0, 500)}
          </li>
        ))}
      </ol>
      {more > 0 && <p className="quiet small">and {numberText(more)} more</p>}
    </div>
  );
}

function LeftOut({ sorted, unit }: { sorted: Sorted; unit: "line" | "item" }) {
  const { blank, duplicates, tooMany, faults } = sorted;
  const parts = [
    ...(duplicates > 0 ? [counted(duplicates, "duplicate")] : []),
    ...(blank > 0 ? [`${numberText(blank)} blank`] : []),
  ];
  const name = unit === "line" ? "Line" : "Item";
  return (
    <>
      {parts.length > 0 && <p className="quiet small">Skipped: {parts.join(", ")}.</p>}
      {tooMany > 0 && (
        <Notice tone="warn">
          {counted(tooMany, "input")} left out. A test can have {limitText}.
        </Notice>
      )}
      {faults.length > 0 && (
        <Notice tone="bad">
          <p>{counted(faults.length, unit)} left out:</p>
          <ul className="inputs-faults">
            {faults.slice(0, shownFaults).map(({ line, message }) => (
              <li key={line}>
                {name} {numberText(line)}: {message}
              </li>
            ))}
          </ul>
          {faults.length > shownFaults && <p>and {numberText(faults.length - shownFaults)} more</p>}
        </Notice>
      )}
    </>
  );
}
