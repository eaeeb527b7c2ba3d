// Dialog that adds the user inputs of the selected traces to the inputs of a test.
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Answer, Failed, type Failure } from "../../api.ts";
import { withSources } from "../../forms/test-changes.ts";
import { counted } from "../../labels.ts";
import { setTestInputs } from "../../mutations/tests.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { pickedFrom } from "../test/inputs/picked.ts";
import { readInputs } from "../test/inputs/read-inputs.ts";
import { useAllPages } from "../tests/all-pages.ts";

type AddToTestProps = { agentId: string; traceIds: readonly string[]; onClose: () => void };

export default function AddToTest({ agentId, traceIds, onClose }: AddToTestProps) {
  const tests = useAllPages(useInfiniteQuery(testsQuery(agentId)));
  const [testId, setTestId] = useState("");
  const { busy, failure, notice, add } = useAdding(agentId, traceIds, onClose);
  return (
    <Dialog
      title="Add to test"
      about={`Adds the user input of ${counted(traceIds.length, "trace")} to the inputs of a test, for manual runs.`}
      onClose={onClose}
    >
      <Loaded query={tests}>
        {all => {
          const single = all.filter(({ turns }) => turns.length === 1);
          if (single.length === 0) return <p>The agent has no test case with one turn.</p>;
          return (
            <label className="stack-tight">
              Test case
              <select className="input" value={testId} onChange={({ target }) => setTestId(target.value)}>
                <option value="">Choose a test case</option>
                {single.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            </label>
          );
        }}
      </Loaded>
      {notice && <Notice tone="warn">{notice}</Notice>}
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="main" busy={busy || testId === ""} onClick={() => void add(testId)}>
          Add inputs
        </Button>
      </div>
    </Dialog>
  );
}

function useAdding(agentId: string, traceIds: readonly string[], onDone: () => void) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [notice, setNotice] = useState<string>();
  /** The number of inputs added, and what was left out. */
  const save = async (testId: string): Promise<Answer<{ added: number; name: string; note: string }>> => {
    const found = await readInputs(agentId, traceIds);
    if (!found.ok) return found;
    // As it is now, because saving replaces the inputs.
    const test = await queries.fetchQuery({ ...testQuery(testId), staleTime: 0 }).catch(asFailure);
    if ("ok" in test) return test;
    const known = (test.inputs ?? []).map(({ input }) => input);
    const { inputs, note } = pickedFrom(found.value, traceIds.length, known);
    if (inputs.length > 0) {
      const sources = withSources(test.draftedFrom, traceIds);
      const saved = await setTestInputs(testId, [...known, ...inputs], sources);
      if (!saved.ok) return saved;
    }
    return { ok: true, value: { added: inputs.length, name: test.name, note } };
  };
  const add = async (testId: string) => {
    setBusy(true);
    setFailure(undefined);
    setNotice(undefined);
    const answer = await save(testId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    const { added, name, note } = answer.value;
    if (added === 0) return setNotice(`Nothing to add. ${note}`);
    onDone();
    toast(`Added ${counted(added, "input")} to “${name}”. ${note}`.trim());
    await queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
    await queries.invalidateQueries({ queryKey: testQuery(testId).queryKey });
  };
  return { busy, failure, notice, add };
}

function asFailure(error: unknown): { ok: false; failure: Failure } {
  if (error instanceof Failed) return { ok: false, failure: error.failure };
  throw error;
}
