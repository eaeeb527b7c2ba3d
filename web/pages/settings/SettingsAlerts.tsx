// Alert settings of the account: whether alerts are emailed, and why none go out.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { EmailAlerts } from "../../../src/http/alerts/schemas.ts";
import type { Failure } from "../../api.ts";
import { setEmailAlerts } from "../../mutations/alerts.ts";
import { emailAlertsQuery } from "../../queries/alerts.ts";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";

export function SettingsAlerts() {
  const query = useQuery(emailAlertsQuery);
  return (
    <section className="card stack">
      <div className="stack-tight">
        <h2>Alerts</h2>
        <p className="quiet">
          A test of your projects is failing after three failures in a row on live traffic. It passes again
          after three passes.
        </p>
      </div>
      <Loaded query={query}>{settings => <EmailSwitch settings={settings} />}</Loaded>
      <p className="quiet small">
        At most one message an hour for each agent, with names, counts and links. To get them by webhook as
        well, open the settings of an agent.
      </p>
    </section>
  );
}

function EmailSwitch({ settings }: { settings: EmailAlerts }) {
  const queries = useQueryClient();
  const [failure, setFailure] = useState<Failure>();
  /** While it is being saved. */
  const [chosen, setChosen] = useState<boolean>();
  const { on, email, verified, mailServer } = settings;
  const change = async (wanted: boolean) => {
    if (chosen !== undefined) return;
    setChosen(wanted);
    const answer = await setEmailAlerts(wanted);
    if (answer.ok) queries.setQueryData(emailAlertsQuery.queryKey, answer.value);
    setChosen(undefined);
    setFailure(answer.ok ? undefined : answer.failure);
    if (answer.ok) toast(wanted ? "Email alerts turned on" : "Email alerts turned off");
  };
  return (
    <>
      <label className="choice">
        <input type="checkbox" checked={chosen ?? on} onChange={event => void change(event.target.checked)} />
        <span className="break">Email alerts to {email}</span>
      </label>
      <FailureNotice failure={failure} />
      {!mailServer && (
        <Notice tone="info">
          No alerts are emailed: this server has no mail server. Its operator can set SVC_SMTP_URL.
        </Notice>
      )}
      {mailServer && !verified && (
        <Notice tone="warn">Alerts are emailed once your email is verified.</Notice>
      )}
    </>
  );
}
