// Dialog that lists the test cases to be deleted and asks for their number.

import { useRef } from "react";
import type { ListedTest } from "../../src/http/test-cases/schemas.ts";
import { counted } from "../labels.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Field } from "../ui/Field.tsx";
import { NameList } from "../ui/NameList.tsx";
import { textOf, useSubmit } from "./submit.ts";
import { deleteTests, type Problem } from "./test-changes.ts";

type DeleteTestsProps = {
  tests: readonly ListedTest[];
  /** Called with the tests that could not be deleted. */
  onDone: (problems: Problem[]) => void | Promise<void>;
  onClose: () => void;
};

export function DeleteTests({ tests, onDone, onClose }: DeleteTestsProps) {
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
        <div className="line line-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="danger" busy={busy}>
            Delete {counted(doomed.length, "test case")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
