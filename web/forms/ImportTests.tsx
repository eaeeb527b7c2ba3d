// Test cases from a file: the server checks every one of them first, and none is made where one is not valid.

import { type ReactNode, useRef, useState } from "react";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { counted } from "../labels.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { NameList } from "../ui/NameList.tsx";
import { Notice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { checkDocuments, makeTests, readDocuments, titleOf, type Unmade } from "./test-file.ts";

type ImportTestsProps = {
  agentId: string;
  /** Those that are there, for what bears the same name. */
  known: readonly ListedTest[];
  onMade: () => Promise<void>;
  onClose: () => void;
};

type State =
  | { step: "choose"; fault?: string }
  | { step: "checking"; done: number; of: number }
  | { step: "refused"; of: number; faults: Unmade[] }
  | { step: "ready"; documents: unknown[] }
  | { step: "making"; done: number; of: number }
  | { step: "stopped"; made: number; left: unknown[]; fault: Unmade };

export function ImportTests({ agentId, known, onMade, onClose }: ImportTestsProps) {
  const [state, setState] = useState<State>({ step: "choose" });
  const [disabled, setDisabled] = useState(false);
  const chosen = useRef(0);

  const choose = async (file: File | undefined) => {
    if (!file) return;
    const choice = ++chosen.current;
    const tell = (next: State) => {
      if (choice === chosen.current) setState(next);
    };
    const read = readDocuments(await file.text());
    if (!read.ok) return tell({ step: "choose", fault: read.fault });
    const { documents } = read;
    const of = documents.length;
    const faults = await checkDocuments(agentId, documents, done => tell({ step: "checking", done, of }));
    tell(faults.length > 0 ? { step: "refused", of, faults } : { step: "ready", documents });
  };
  const make = async (documents: unknown[], madeBefore = 0) => {
    const of = madeBefore + documents.length;
    const telling = (done: number) => setState({ step: "making", done: madeBefore + done, of });
    telling(0);
    const { made, left, fault } = await makeTests(agentId, documents, telling);
    await onMade();
    if (fault) return setState({ step: "stopped", made: madeBefore + made, left, fault });
    toast(`${counted(of, "test case")} ${of === 1 ? "is" : "are"} imported.`);
    onClose();
  };
  const asWanted = (documents: unknown[]) =>
    disabled ? documents.map(document => ({ ...(document as object), status: "disabled" })) : documents;

  return (
    <Dialog
      title="Import test cases"
      about="From a JSON file with one test case, or a list of them, as they are exported."
      onClose={onClose}
    >
      <Field
        label="File"
        name="file"
        type="file"
        accept=".json,application/json"
        onChange={event => void choose(event.target.files?.[0])}
        fault={state.step === "choose" ? state.fault : undefined}
      />
      {(state.step === "checking" || state.step === "making") && (
        <p role="status">
          {state.step === "checking" ? "Checked" : "Made"} {state.done} of {counted(state.of, "test case")}…
        </p>
      )}
      {state.step === "refused" && <Refused {...state} />}
      {state.step === "ready" && (
        <>
          <Names documents={state.documents} known={known} />
          <label className="choice">
            <input type="checkbox" checked={disabled} onChange={event => setDisabled(event.target.checked)} />
            <span>
              Disable all of them at first
              <span className="quiet small"> — else each is active or disabled as the file says</span>
            </span>
          </label>
          <Actions onClose={onClose}>
            <Button look="main" onClick={() => void make(asWanted(state.documents))}>
              Import {counted(state.documents.length, "test case")}
            </Button>
          </Actions>
        </>
      )}
      {state.step === "stopped" && (
        <>
          <Notice tone="bad" role="alert">
            <p>
              {counted(state.made, "test case")} of the file {state.made === 1 ? "is" : "are"} made, from its
              end on. “{state.fault.title}” is not, and the {state.left.length - 1} before it are not either:
            </p>
            <p>{state.fault.messages.join(" ")}</p>
          </Notice>
          <Actions onClose={onClose}>
            <Button look="main" onClick={() => void make(state.left, state.made)}>
              Try the other {state.left.length} again
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

function Refused({ of, faults }: { of: number; faults: Unmade[] }) {
  return (
    <Notice tone="bad" role="alert">
      <p>
        <strong>
          {faults.length} of {counted(of, "test case")} cannot be imported, so none is.
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
  const again = titles.filter(title => taken.has(title)).length;
  return (
    <>
      <NameList label="In this file" names={titles} />
      {again > 0 && (
        <Notice tone="warn">
          {counted(again, "test case")} of the same name {again === 1 ? "is" : "are"} here already, and
          {again === 1 ? " stays" : " stay"} as {again === 1 ? "it is" : "they are"}.
        </Notice>
      )}
    </>
  );
}
