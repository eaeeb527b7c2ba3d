// Form for the connection that manual runs use to call an agent: edit, test, save and remove.

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { AgentConnection } from "../../src/http/projects/schemas.ts";
import type { Agent, AgentType } from "../../src/model/agent/agent.ts";
import type { Failure } from "../api.ts";
import { deleteConnection, saveConnection } from "../mutations/agents.ts";
import { readNow } from "../queries/client.ts";
import { connectionQuery } from "../queries/connection.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { toast } from "../ui/Toast.tsx";
import { ConnectionFields } from "./ConnectionFields.tsx";
import { ConnectionTrial } from "./ConnectionTrial.tsx";
import { type Draft, documentOf, draftOf } from "./connection-draft.ts";
import { OutdatedNotice } from "./OutdatedNotice.tsx";
import type { Faults } from "./submit.ts";
import { useDraft } from "./use-draft.ts";

type ConnectionFormProps = { agent: Agent; stored: AgentConnection };

const draftingOf = (type: AgentType) => ({
  toDraft: (connection: AgentConnection["connection"]) => draftOf(type, connection),
  fromDraft: (draft: Draft) => documentOf(type, draft),
});

/** After saving or removing, the form resets to the stored connection. */
export function ConnectionForm({ agent, stored }: ConnectionFormProps) {
  const queries = useQueryClient();
  const [drafting] = useState(() => draftingOf(stored.type));
  const query = connectionQuery(agent.id, stored.type);
  const { draft, isChanged, isOutdated, ...drafted } = useDraft(
    stored.connection,
    drafting,
    async () => (await readNow(queries, query)).connection,
  );
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [removing, setRemoving] = useState(false);
  const { form, faults, check, clear, show } = useFaults();
  const document = () => drafting.fromDraft(draft);

  async function save(): Promise<void> {
    setFailure(undefined);
    if (busy || !check()) return;
    setBusy(true);
    const answer = (await drafted.isCurrent()) && (await saveConnection(agent.id, document()));
    setBusy(false);
    if (!answer) return;
    if (!answer.ok) {
      if (!show(answer.failure)) setFailure(answer.failure);
      return;
    }
    reset(answer.value);
    toast("Connection saved");
  }

  /** What was typed while the request ran stays. */
  function reset(from: AgentConnection): void {
    drafted.settle(draft, from.connection);
    queries.setQueryData(query.queryKey, from);
  }

  function discard(): void {
    drafted.discard();
    clear();
    setFailure(undefined);
  }

  return (
    <>
      <form
        ref={form}
        className="stack"
        noValidate
        onSubmit={event => {
          event.preventDefault();
          void save();
        }}
      >
        <ConnectionFields type={stored.type} draft={draft} onChange={drafted.change} faults={faults} />
        <FailureNotice failure={failure} />
        <OutdatedNotice isOutdated={isOutdated} />
        <div className="line line-end">
          {isChanged && <Button onClick={discard}>Discard changes</Button>}
          {stored.connection && <Button onClick={() => setRemoving(true)}>Remove connection…</Button>}
          <Button type="submit" look="main" busy={busy}>
            Save connection
          </Button>
        </div>
      </form>
      <ConnectionTrial agentId={agent.id} document={document} onSend={check} onFailure={show} />
      {removing && (
        <RemoveDialog
          agentId={agent.id}
          onClose={() => setRemoving(false)}
          onDone={() => {
            reset({ ...stored, connection: null, updatedAt: null });
            toast("Connection removed");
          }}
        />
      )}
    </>
  );
}

/** A form's errors by full field path. Setting them focuses the first field with one. */
function useFaults() {
  const form = useRef<HTMLFormElement>(null);
  const [faults, setFaults] = useState<Faults>({});

  function set(found: Faults): void {
    flushSync(() => setFaults(found));
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }

  return {
    form,
    faults,
    clear: () => setFaults({}),
    /** Browser validation: whether all fields are valid. */
    check(): boolean {
      const inputs = [...(form.current?.elements ?? [])].filter(one => one instanceof HTMLInputElement);
      const invalid = inputs.filter(input => input.name && !input.validity.valid);
      set(Object.fromEntries(invalid.map(input => [input.name, input.validationMessage])));
      return invalid.length === 0;
    },
    /** Shows the issues at their fields; false if one belongs to no field of this form. */
    show({ issues = [] }: Failure): boolean {
      const fields = form.current?.elements;
      if (issues.length === 0 || !issues.every(issue => fields?.namedItem(issue.path))) return false;
      set(Object.fromEntries(issues.map(issue => [issue.path, issue.message])));
      return true;
    },
  };
}

type RemoveDialogProps = { agentId: string; onClose: () => void; onDone: () => void };

function RemoveDialog({ agentId, onClose, onDone }: RemoveDialogProps) {
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  async function remove(): Promise<void> {
    setBusy(true);
    const answer = await deleteConnection(agentId);
    setBusy(false);
    if (!answer.ok) return setFailure(answer.failure);
    onClose();
    onDone();
  }
  return (
    <Dialog
      title="Remove connection"
      about="Also deletes its secrets. The agent’s test cases cannot be run until you set up a new connection."
      alert
      onClose={onClose}
    >
      <div className="stack">
        <FailureNotice failure={failure} />
        <div className="line line-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" busy={busy} onClick={() => void remove()}>
            Remove connection
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
