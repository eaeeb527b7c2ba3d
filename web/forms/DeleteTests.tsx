// Dialogs that delete test cases: one confirmed by its name, several by their number.
import { useRef } from "react";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { counted } from "../labels.ts";
import { deleteTest } from "../mutations/tests.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { NameList } from "../ui/NameList.tsx";
import { ConfirmDialog } from "./ConfirmDialog.tsx";
import { SubmitRow } from "./SubmitRow.tsx";
import { textOf, useSubmit } from "./submit.ts";
import { deleteTests, type Problem } from "./test-changes.ts";

type DeleteTestsProps = {
  tests: readonly ListedTest[];
  /** Called with the tests that could not be deleted. */
  onDone: (problems: Problem[]) => void | Promise<void>;
  onClose: () => void;
};

export function DeleteTests({ tests, onDone, onClose }: DeleteTestsProps) {
  const [first] = tests;
  if (tests.length === 1 && first) {
    return <DeleteTest test={first} onDone={() => onDone([])} onClose={onClose} />;
  }
  return <DeleteSeveral tests={tests} onDone={onDone} onClose={onClose} />;
}

type DeleteTestProps = {
  test: Pick<ListedTest, "id" | "name">;
  onDone: () => void | Promise<void>;
  onClose: () => void;
};

export function DeleteTest({ test: { id, name }, onDone, onClose }: DeleteTestProps) {
  return (
    <ConfirmDialog
      title="Delete test case"
      about="Also deletes its history. Traces keep their results. This cannot be undone."
      name={name}
      send={() => deleteTest(id)}
      action="Delete test case"
      onClose={onClose}
      onDone={onDone}
    />
  );
}

function DeleteSeveral({ tests, onDone, onClose }: DeleteTestsProps) {
  // Fixed when the dialog opens: the list may be refetched in the meantime.
  const { current: doomed } = useRef(tests);
  const number = String(doomed.length);
  const { form, busy, faults } = useSubmit<Problem[]>({
    check: fields => (textOf(fields, "number").trim() === number ? {} : { number: `Type ${number}.` }),
    send: async () => ({ ok: true, value: await deleteTests(doomed) }),
    done: onDone,
  });
  return (
    <Dialog
      title={`Delete ${counted(doomed.length, "test case")}`}
      about="Also deletes their history. Traces keep their results. This cannot be undone."
      alert
      onClose={onClose}
    >
      <form {...form} className="stack">
        <NameList label="Will be deleted" names={doomed.map(({ name }) => name)} />
        <Field
          label={`Type ${number} to confirm`}
          name="number"
          required
          inputMode="numeric"
          autoComplete="off"
          fault={faults["number"]}
        />
        <SubmitRow busy={busy} look="danger" onCancel={onClose}>
          Delete {counted(doomed.length, "test case")}
        </SubmitRow>
      </form>
    </Dialog>
  );
}
