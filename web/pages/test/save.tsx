// Saves the test case. If someone else changed or deleted it in the meantime, asks before overwriting.
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { type Answer, ask, type Failure } from "../../api.ts";
import { documentOf } from "../../forms/test-changes.ts";
import { ineligibilities } from "../../labels.ts";
import { createTest, replaceTest, setTestStatus } from "../../mutations/tests.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { isSameJson } from "../../same-json.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { toast } from "../../ui/Toast.tsx";
import { changeSince } from "./conflict.ts";
import type { Change, Doc, Editing } from "./document.ts";
import type { Origin } from "./TestPage.tsx";

type SaveOptions = {
  origin: Origin;
  agentId: string;
  editing: Editing;
  /** What is saved: the document, and what is added to it. */
  document: Doc;
  hasJudge: boolean;
  change: (change: Change) => void;
  /** Called with the path of the first error. */
  onFaults: (path: string) => void;
  /** Called with the id of a newly created test. */
  onSaved: (id: string) => void | Promise<void>;
};

export type Save = {
  /** As last read or saved; null: never saved. */
  stored: ListedTest | null;
  isDirty: boolean;
  busy: boolean;
  /** Whether saving was tried: from then on every error is shown. */
  tried: boolean;
  failure: Failure | undefined;
  /** The version that someone else saved in the meantime; null: deleted. */
  conflict: ListedTest | null | undefined;
  send: (how?: "overwrite" | "as_new") => Promise<void>;
  /** Replaces the draft with the saved version. */
  load: (test: ListedTest) => void;
  /** Changes the status alone, once a save that is running has ended. */
  setStatus: (status: ListedTest["status"]) => Promise<Answer<ListedTest>>;
  closeConflict: () => void;
};

export function useSave({
  origin,
  agentId,
  editing,
  document,
  hasJudge,
  change,
  onFaults,
  onSaved,
}: SaveOptions): Save {
  const queries = useQueryClient();
  const [stored, setStored] = useState(origin.stored);
  const [saved, setSaved] = useState(origin.document);
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [conflict, setConflict] = useState<ListedTest | null>();
  const sending = useRef<Promise<unknown>>(undefined);

  async function send(how?: "overwrite" | "as_new"): Promise<void> {
    if (sending.current !== undefined) return;
    setConflict(undefined);
    setFailure(undefined);
    await alone(() => store(how));
  }

  async function alone<T>(work: () => Promise<T>): Promise<T> {
    setBusy(true);
    const working = work();
    sending.current = working;
    try {
      return await working;
    } finally {
      sending.current = undefined;
      setBusy(false);
    }
  }

  async function setStatus(status: ListedTest["status"]): Promise<Answer<ListedTest>> {
    while (sending.current !== undefined) await sending.current.catch(() => undefined);
    return alone(async () => {
      const answer = await setTestStatus(stored!.id, status);
      if (answer.ok) {
        // The other fields stay as last read, so that changes by others are still noticed.
        setStored(was => was && { ...was, status });
        setSaved(was => ({ ...was, status }));
        change({ kind: "status", status });
      }
      return answer;
    });
  }

  async function store(how: "overwrite" | "as_new" | undefined): Promise<void> {
    const typed = editing.document;
    const isNew = stored === null || how === "as_new";
    let found: Answer<ListedTest> | undefined;
    if (!isNew && how === undefined) {
      const now: Answer<ListedTest> = await ask("GET", `/api/tests/${stored.id}`);
      if (!now.ok && now.failure.code !== "NOT_FOUND") return setFailure(now.failure);
      if (!now.ok) return setConflict(null);
      const change = changeSince(documentOf(stored), documentOf(now.value), document);
      if (change === "conflict") return setConflict(now.value);
      if (change === "saved") found = now;
    }
    const answer: Answer<ListedTest> = isNew
      ? await createTest(agentId, document)
      : (found ?? (await replaceTest(stored.id, document)));
    if (!answer.ok) {
      setTried(true);
      const [first] = answer.failure.issues ?? [];
      if (first) onFaults(first.path);
      else setFailure(answer.failure);
      return;
    }
    settle(answer.value, typed);
    toast(`Saved. ${effectText(answer.value, hasJudge)}`);
    await queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
    if (isNew) await onSaved(answer.value.id);
  }

  function settle(test: ListedTest, typed: Doc): void {
    const document = documentOf(test);
    queries.setQueryData(testQuery(test.id).queryKey, test);
    setStored(test);
    setSaved(document);
    setTried(false);
    change({ kind: "saved", typed, document });
  }

  return {
    stored,
    isDirty: editing.fault !== undefined || !isSameJson(editing.document, saved),
    busy,
    tried,
    failure,
    conflict,
    send,
    load(test) {
      setConflict(undefined);
      setStored(test);
      const document = documentOf(test);
      setSaved(document);
      change({ kind: "replace", document });
    },
    setStatus,
    closeConflict: () => setConflict(undefined),
  };
}

/** What the saved test will do with new traces. */
function effectText({ eligibility, passiveBehavior }: ListedTest, hasJudge: boolean): string {
  if (eligibility) return ineligibilities[eligibility];
  if (passiveBehavior === "run_when_relevant" && !hasJudge) {
    return "It never runs on new traces, because no judge is configured.";
  }
  return "Applies to new traces only.";
}

const fieldNames: Record<string, string> = {
  name: "name",
  status: "status",
  passiveBehavior: "passive behavior",
  scenario: "scenario",
  threshold: "strictness",
  turns: "turns",
  inputs: "inputs",
  repeats: "repeats",
  draftedFrom: "source traces",
  assertions: "assertions",
};

export function ConflictDialog({ save }: { save: Save }) {
  const { conflict, stored, send, load, closeConflict } = save;
  if (conflict === undefined) return null;
  if (conflict === null) {
    return (
      <Dialog
        title="Test case deleted"
        about="Someone deleted this test case while you were editing it. You can save your version as a new test case."
        alert
        onClose={closeConflict}
      >
        <div className="line line-end">
          <Button onClick={closeConflict}>Cancel</Button>
          <Button look="main" onClick={() => void send("as_new")}>
            Save as new test case
          </Button>
        </div>
      </Dialog>
    );
  }
  const theirs: Doc = documentOf(conflict);
  const mine: Doc = stored ? documentOf(stored) : {};
  // A field that is gone has changed, too.
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
  const changed = names.filter(name => !isSameJson(theirs[name], mine[name]));
  return (
    <Dialog
      title="Test case changed"
      about={`Someone saved this test case while you were editing it. Changed: ${changed
        .map(name => fieldNames[name])
        .join(", ")}. Loading their version discards your changes.`}
      alert
      onClose={closeConflict}
    >
      <div className="line line-end">
        <Button onClick={closeConflict}>Cancel</Button>
        <Button onClick={() => load(conflict)}>Load their version</Button>
        <Button look="danger" onClick={() => void send("overwrite")}>
          Overwrite
        </Button>
      </div>
    </Dialog>
  );
}
