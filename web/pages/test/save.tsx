// Saving the document: nothing that somebody else stored meanwhile is overwritten unasked.

import { useQueryClient } from "@tanstack/react-query";
import { type RefObject, useRef, useState } from "react";
import type { ListedTest } from "../../../src/http/test-cases/schemas.ts";
import { type Answer, ask, type Failure } from "../../api.ts";
import { documentOf } from "../../forms/test-changes.ts";
import { createTest, replaceTest } from "../../mutations/tests.ts";
import { testQuery, testsQuery } from "../../queries/tests.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { toast } from "../../ui/Toast.tsx";
import type { Change, Doc, Editing } from "./document.ts";
import type { Origin } from "./TestPage.tsx";

type SaveOptions = {
  origin: Origin;
  agentId: string;
  editing: Editing;
  change: (change: Change) => void;
  /** The path of the first fault. */
  onFaults: (path: string) => void;
  /** A new one has its id. */
  onSaved: (id: string) => void | Promise<void>;
};

export type Save = {
  /** As it was last read or saved; null: never. */
  stored: ListedTest | null;
  isDirty: boolean;
  busy: boolean;
  /** Whether saving was tried: from then on every fault is told. */
  tried: boolean;
  failure: Failure | undefined;
  /** What somebody else made of it meanwhile; null: it is gone. */
  conflict: ListedTest | null | undefined;
  leaving: RefObject<boolean>;
  send: (how?: "overwrite" | "anew") => Promise<void>;
  /** Takes over what is stored, instead of what is here. */
  take: (test: ListedTest) => void;
  /** Its status was changed by itself. */
  noteStatus: (status: ListedTest["status"]) => void;
  resolve: () => void;
};

export function useSave({ origin, agentId, editing, change, onFaults, onSaved }: SaveOptions): Save {
  const queries = useQueryClient();
  const [stored, setStored] = useState(origin.stored);
  const [saved, setSaved] = useState(() => JSON.stringify(origin.document));
  const [busy, setBusy] = useState(false);
  const [tried, setTried] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [conflict, setConflict] = useState<ListedTest | null>();
  const underWay = useRef(false);
  const leaving = useRef(false);

  async function send(how?: "overwrite" | "anew"): Promise<void> {
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    setConflict(undefined);
    setFailure(undefined);
    try {
      await store(how);
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  }

  async function store(how: "overwrite" | "anew" | undefined): Promise<void> {
    const sent = editing.document;
    const isNew = stored === null || how === "anew";
    if (!isNew && how === undefined) {
      const now = await ask<ListedTest>("GET", `/api/tests/${stored.id}`);
      if (!now.ok && now.failure.code !== "NOT_FOUND") return setFailure(now.failure);
      if (!now.ok) return setConflict(null);
      if (!isSame(now.value, stored)) return setConflict(now.value);
    }
    const answer: Answer<ListedTest> = isNew
      ? await createTest(agentId, sent)
      : await replaceTest(stored.id, sent);
    if (!answer.ok) {
      setTried(true);
      const [first] = answer.failure.issues ?? [];
      if (first) onFaults(first.path);
      else setFailure(answer.failure);
      return;
    }
    settle(answer.value, sent);
    toast("Saved. Applies to new traces only.");
    await queries.invalidateQueries({ queryKey: testsQuery(agentId).queryKey });
    if (isNew) {
      leaving.current = true;
      await onSaved(answer.value.id);
    }
  }

  function settle(test: ListedTest, sent: Doc): void {
    const document = documentOf(test);
    queries.setQueryData(testQuery(test.id).queryKey, test);
    setStored(test);
    setSaved(JSON.stringify(document));
    setTried(false);
    change({ kind: "saved", sent, document });
  }

  return {
    stored,
    isDirty: editing.fault !== undefined || JSON.stringify(editing.document) !== saved,
    busy,
    tried,
    failure,
    conflict,
    leaving,
    send,
    take(test) {
      setConflict(undefined);
      setStored(test);
      setSaved(JSON.stringify(documentOf(test)));
      change({ kind: "replace", document: documentOf(test) });
    },
    noteStatus(status) {
      if (!stored) return;
      // The rest stays as it was read, so that what others made of it is still noticed.
      const test = { ...stored, status };
      setStored(test);
      setSaved(JSON.stringify(documentOf(test)));
      change({ kind: "field", name: "status", value: status });
    },
    resolve: () => setConflict(undefined),
  };
}

function isSame(a: ListedTest, b: ListedTest): boolean {
  return JSON.stringify(documentOf(a)) === JSON.stringify(documentOf(b));
}

const fieldNames: Record<string, string> = {
  name: "name",
  status: "status",
  passiveBehavior: "passive behavior",
  scenario: "scenario",
  threshold: "strictness",
  turns: "turns",
  assertions: "assertions",
};

export function ConflictDialog({ save }: { save: Save }) {
  const { conflict, stored, send, take, resolve } = save;
  if (conflict === undefined) return null;
  if (conflict === null) {
    return (
      <Dialog
        title="This test case was deleted"
        about="Somebody deleted it while it was open here. What is here can still be saved as a new one."
        alert
        onClose={resolve}
      >
        <div className="line line-end">
          <Button onClick={resolve}>Cancel</Button>
          <Button look="main" onClick={() => void send("anew")}>
            Save as a new test case
          </Button>
        </div>
      </Dialog>
    );
  }
  const theirs: Doc = documentOf(conflict);
  const mine: Doc = stored ? documentOf(stored) : {};
  const changed = Object.keys(theirs).filter(
    name => JSON.stringify(theirs[name]) !== JSON.stringify(mine[name]),
  );
  return (
    <Dialog
      title="It was changed meanwhile"
      about={`Somebody saved this test case while it was open here, with another ${changed
        .map(name => fieldNames[name])
        .join(", ")}.`}
      alert
      onClose={resolve}
    >
      <div className="line line-end">
        <Button onClick={resolve}>Cancel</Button>
        <Button onClick={() => take(conflict)}>Load theirs</Button>
        <Button look="danger" onClick={() => void send("overwrite")}>
          Overwrite
        </Button>
      </div>
    </Dialog>
  );
}
