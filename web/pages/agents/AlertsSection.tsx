// Section of the agent settings with alerts: whether they are emailed, and the webhook.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { SavedWebhook, Webhook } from "../../../src/http/alerts/schemas.ts";
import type { Agent } from "../../../src/http/projects/schemas.ts";
import { ShownOnce } from "../../forms/ShownOnce.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { saveWebhook } from "../../mutations/alerts.ts";
import { emailAlertsQuery, webhookQuery } from "../../queries/alerts.ts";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { WebhookActions } from "./WebhookActions.tsx";

export function AlertsSection({ agent }: { agent: Agent }) {
  const query = useQuery(webhookQuery(agent.id));
  const queries = useQueryClient();
  const [secret, setSecret] = useState<string>();
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
            <WebhookForm agentId={agent.id} webhook={webhook} onSaved={onSaved} />
            {webhook && (
              <>
                {!webhook.secretReadable && (
                  <Notice tone="warn">
                    The secret was encrypted with another key, so nothing is sent. Replace the secret.
                  </Notice>
                )}
                <WebhookActions agent={agent} onSaved={onSaved} />
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
  const { form, busy, faults, failure } = useSubmit<SavedWebhook>({
    send: fields => saveWebhook(agentId, textOf(fields, "url")),
    done: onSaved,
  });
  return (
    <form {...form} className="stack" aria-label="Webhook">
      <Field
        // Empty again once the webhook is deleted.
        key={webhook?.createdAt ?? "none"}
        label="Webhook URL"
        name="url"
        type="url"
        required
        maxLength={2_000}
        defaultValue={webhook?.url}
        hint="Gets each message as JSON, signed in the form of Standard Webhooks."
        autoComplete="off"
        spellCheck={false}
        fault={faults["url"]}
      />
      <FailureNotice failure={failure} />
      <div className="line line-end">
        <Button type="submit" look="main" busy={busy}>
          {webhook ? "Save webhook" : "Create webhook"}
        </Button>
      </div>
    </form>
  );
}
