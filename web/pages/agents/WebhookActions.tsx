// Buttons of an agent's webhook: send a test, replace the secret, delete.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { SavedWebhook } from "../../../src/http/alerts/schemas.ts";
import type { Agent } from "../../../src/http/projects/schemas.ts";
import type { Answer, Failure } from "../../api.ts";
import { deleteWebhook, replaceWebhookSecret, testWebhook } from "../../mutations/alerts.ts";
import { deliveriesQuery, webhookQuery } from "../../queries/alerts.ts";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";
import { toast } from "../../ui/Toast.tsx";

type WebhookActionsProps = {
  agent: Agent;
  onSaved: (saved: SavedWebhook) => void;
  onDeleted: () => void;
};

export function WebhookActions({ agent: { id }, onSaved, onDeleted }: WebhookActionsProps) {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<"replace" | "delete">();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  /** The failure of another action does not belong to this one. */
  const ask = (what: "replace" | "delete" | undefined) => {
    setAsked(what);
    setFailure(undefined);
  };
  const close = () => ask(undefined);

  async function send<T>(request: Promise<Answer<T>>, done: (value: T) => unknown): Promise<void> {
    setBusy(true);
    const answer = await request;
    setBusy(false);
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) await done(answer.value);
  }
  const refetchDeliveries = () => queries.invalidateQueries({ queryKey: deliveriesQuery(id).queryKey });
  const replace = () =>
    void send(replaceWebhookSecret(id), saved => {
      close();
      onSaved(saved);
    });
  const remove = () =>
    void send(deleteWebhook(id), async () => {
      close();
      toast("Webhook deleted");
      queries.removeQueries({ queryKey: deliveriesQuery(id).queryKey });
      queries.setQueryData(webhookQuery(id).queryKey, { webhook: null });
      onDeleted();
    });
  return (
    <>
      <div className="line">
        <Button busy={busy && !asked} onClick={() => void send(testWebhook(id), refetchDeliveries)}>
          Send a test
        </Button>
        <Button onClick={() => ask("replace")}>Replace secret…</Button>
        <Button icon="trash" onClick={() => ask("delete")}>
          Delete webhook…
        </Button>
      </div>
      {!asked && <FailureNotice failure={failure} />}
      {asked && (
        <Dialog
          title={asked === "replace" ? "Replace secret" : "Delete webhook"}
          about={
            asked === "replace"
              ? "From now on, messages are signed with a new secret. The receiver rejects them until it has that secret."
              : "Alerts of this agent are no longer posted. Also deletes the list of deliveries."
          }
          alert
          onClose={close}
        >
          <FailureNotice failure={failure} />
          <div className="line line-end">
            <Button onClick={close}>Cancel</Button>
            <Button
              look={asked === "replace" ? "main" : "danger"}
              busy={busy}
              onClick={asked === "replace" ? replace : remove}
            >
              {asked === "replace" ? "Replace secret" : "Delete webhook"}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
