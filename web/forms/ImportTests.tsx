// Dialog that imports test cases from a file. The server validates all of them first; if one is invalid, none is imported.

import { type ReactNode, useRef, useState } from "react";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { counted } from "../labels.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { forgetFile, unreadableFile } from "../ui/file-input.ts";
import { NameList } from "../ui/NameList.tsx";
import { Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { checkDocuments, createTests, type ImportFault, readDocuments, titleOf } from "./test-file.ts";

type ImportTestsProps = {
  agentId: string;
  /** The agent's test cases, to warn about equal names. */
  known: readonly ListedTest[];
  onImported: () => Promise<void>;
  onClose: () => void;
};

type State =
  | { step: "choose"; fault?: string }
  | { step: "checking"; done: number; of: number }
  | { step: "invalid"; of: number; faults: ImportFault[] }
  | { step: "ready"; documents: unknown[] }
  | { step: "creating"; done: number; of: number }
  | { step: "stopped"; created: number; left: unknown[]; fault: ImportFault };

export function ImportTests({ agentId, known, onImported, onClose }: ImportTestsProps) {
  const [state, setState] = useState<State>({ step: "choose" });
  const [disabled, setDisabled] = useState(false);
  const chosen = useRef(0);

  const choose = async (file: File | undefined) => {
    if (!file) return;
    const choice = ++chosen.current;
    const show = (next: State) => {
      if (choice === chosen.current) setState(next);
    };
    const text = await file.text().catch(() => undefined);
    if (text === undefined) return show({ step: "choose", fault: unreadableFile });
    const read = readDocuments(text);
    if (!read.ok) return show({ step: "choose", fault: read.fault });
    const { documents } = read;
    const of = documents.length;
    const faults = await checkDocuments(agentId, documents, done => show({ step: "checking", done, of }));
    show(faults.length > 0 ? { step: "invalid", of, faults } : { step: "ready", documents });
  };
  const create = async (documents: unknown[], createdBefore = 0) => {
    const of = createdBefore + documents.length;
    const onCreated = (done: number) => setState({ step: "creating", done: createdBefore + done, of });
    onCreated(0);
    const { created, left, fault } = await createTests(agentId, documents, onCreated);
    await onImported();
    if (fault) return setState({ step: "stopped", created: createdBefore + created, left, fault });
    toast(`Imported ${counted(of, "test case")}`);
    onClose();
  };
  const withStatus = (documents: unknown[]) =>
    disabled ? documents.map(document => ({ ...(document as object), status: "disabled" })) : documents;

  return (
    <Dialog
      title="Import test cases"
      about="Choose a JSON file with one test case or a list of them, as exported from Onlooker."
      onClose={onClose}
    >
      <Field
        label="File"
        name="file"
        type="file"
        accept=".json,application/json"
        onClick={forgetFile}
        onChange={event => void choose(event.target.files?.[0])}
        fault={state.step === "choose" ? state.fault : undefined}
      />
      {(state.step === "checking" || state.step === "creating") && (
        <p role="status">
          {state.step === "checking" ? "Checked" : "Imported"} {state.done} of{" "}
          {counted(state.of, "test case")}…
        </p>
      )}
      {state.step === "invalid" && <Invalid {...state} />}
      {state.step === "ready" && (
        <>
          <Names documents={state.documents} known={known} />
          <label className="choice">
            <input type="checkbox" checked={disabled} onChange={event => setDisabled(event.target.checked)} />
            <span>
              Import all as disabled
              <span className="quiet small"> — otherwise each keeps its status from the file</span>
            </span>
          </label>
          <Actions onClose={onClose}>
            <Button look="main" onClick={() => void create(withStatus(state.documents))}>
              Import {counted(state.documents.length, "test case")}
            </Button>
          </Actions>
        </>
      )}
      {state.step === "stopped" && (
        <>
          <Notice tone="bad" role="alert">
            <p>
              Imported {state.created} of {counted(state.created + state.left.length, "test case")}, then
              stopped at “{state.fault.title}”:
            </p>
            <p>{state.fault.messages.join(" ")}</p>
          </Notice>
          <Actions onClose={onClose}>
            <Button look="main" onClick={() => void create(state.left, state.created)}>
              Retry the remaining {state.left.length}
            </Button>
          </Actions>
        </>
      )}
    </Dialog>
  );
}

function Actions({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <div className="line line-end">
      <Button onClick={onClose}>Cancel</Button>
      {children}
    </div>
  );
}

function Invalid({ of, faults }: { of: number; faults: ImportFault[] }) {
  return (
    <Notice tone="bad" role="alert">
      <p>
        <strong>
          {faults.length} of {counted(of, "test case")} {faults.length === 1 ? "is" : "are"} invalid. Nothing
          was imported.
        </strong>
      </p>
      <ul className="tests-faults">
        {faults.map(({ position, title, messages }) => (
          <li key={position}>
            {position}. {title}
            <ul>
              {messages.map(message => (
                <li key={message}>{message}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </Notice>
  );
}

function Names({ documents, known }: { documents: unknown[]; known: readonly ListedTest[] }) {
  const taken = new Set(known.map(({ name }) => name));
  const titles = documents.map(titleOf);
  const duplicates = titles.filter(title => taken.has(title)).length;
  return (
    <>
      <NameList label="In this file" names={titles} />
      {duplicates > 0 && (
        <Notice tone="warn">
          {counted(duplicates, "test case")} {duplicates === 1 ? "has the name of an" : "have names of"}{" "}
          existing {duplicates === 1 ? "test, which is kept" : "tests, which are kept"}.
        </Notice>
      )}
    </>
  );
}
