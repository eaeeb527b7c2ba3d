// Section of the agent settings with alerts: whether they are emailed, and the webhook.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SavedWebhook, Webhook } from "../../../src/http/alerts/schemas.ts";
import type { Agent } from "../../../src/http/projects/schemas.ts";
import { textDrafting } from "../../forms/draft.ts";
import { ShownOnce } from "../../forms/ShownOnce.tsx";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { useSubmit } from "../../forms/submit.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { saveWebhook } from "../../mutations/alerts.ts";
import { emailAlertsQuery, webhookQuery } from "../../queries/alerts.ts";
import { readNow } from "../../queries/client.ts";
import { Field } from "../../ui/Field.tsx";
import { Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { WebhookActions } from "./WebhookActions.tsx";

export function AlertsSection({ agent }: { agent: Agent }) {
  const query = useQuery(webhookQuery(agent.id));
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
  const [deletions, setDeletions] = useState(0);
  const onSaved = (saved: SavedWebhook) => {
    queries.setQueryData(webhookQuery(agent.id).queryKey, { webhook: saved.webhook });
    if (saved.secret === null) toast("Webhook saved");
    else setSecret(saved.secret);
  };
  return (
    <section className="card stack" aria-labelledby="alerts" id="alerts-settings">
      <div className="stack-tight">
        <h2 id="alerts">Alerts</h2>
        <p className="quiet">
          Sent when a test fails three times in a row on live traffic, and when it passes three times again.
          At most one message an hour.
        </p>
      </div>
      <dl className="facts">
        <dt>Email</dt>
        <dd>
          <EmailState />
        </dd>
      </dl>
      <Loaded query={query}>
        {({ webhook }) => (
          <>
            <WebhookForm key={deletions} agentId={agent.id} webhook={webhook} onSaved={onSaved} />
            {webhook && (
              <>
                {!webhook.secretReadable && (
                  <Notice tone="warn">
                    The secret was encrypted with another key, so nothing is sent. Replace the secret.
                  </Notice>
                )}
                <WebhookActions
                  agent={agent}
                  onSaved={onSaved}
                  onDeleted={() => setDeletions(deletions + 1)}
                />
                <Deliveries agentId={agent.id} />
              </>
            )}
          </>
        )}
      </Loaded>
      {secret !== undefined && (
        <ShownOnce
          noun="secret"
          name={`webhook of ${agent.name}`}
          secret={secret}
          environment={`ONLOOKER_WEBHOOK_SECRET=${secret}\n`}
          isEncrypted
          onClose={() => setSecret(undefined)}
        />
      )}
    </section>
  );
}

function EmailState() {
  const { data } = useQuery(emailAlertsQuery);
  if (!data) return null;
  const { mailServer, on, verified, email } = data;
  return (
    <>
      {!mailServer && "No mail server"}
      {mailServer && !on && "Off"}
      {mailServer && on && !verified && "Not verified"}
      {mailServer && on && verified && <span className="break">{email}</span>}
      <Link to="/settings/alerts" className="small">
        Email settings
      </Link>
    </>
  );
}

type WebhookFormProps = {
  agentId: string;
  webhook: Webhook | null;
  onSaved: (saved: SavedWebhook) => void;
};

function WebhookForm({ agentId, webhook, onSaved }: WebhookFormProps) {
  const queries = useQueryClient();
  const { draft: url, ...drafted } = useDraft(webhook?.url ?? "", textDrafting, async () => {
    const latest = await readNow(queries, webhookQuery(agentId));
    return latest.webhook?.url ?? "";
  });
  const { form, faults, ...row } = useSubmit<SavedWebhook>({
    draft: drafted,
    send: () => saveWebhook(agentId, url),
    done: saved => {
      drafted.settle(url, saved.webhook.url);
      onSaved(saved);
    },
  });
  return (
    <form {...form} className="stack" aria-label="Webhook">
      <Field
        label="Webhook URL"
        name="url"
        type="url"
        required
        maxLength={2_000}
        value={url}
        onChange={({ target }) => drafted.replace(target.value)}
        hint="Gets each message as JSON, signed in the form of Standard Webhooks."
        autoComplete="off"
        spellCheck={false}
        fault={faults["url"]}
      />
      <SubmitRow {...row}>{webhook ? "Save webhook" : "Create webhook"}</SubmitRow>
    </form>
  );
}
