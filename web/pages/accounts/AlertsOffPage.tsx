// Opens the link in an email that turns alerts off. Works without a session.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Failure } from "../../api.ts";
import { turnOffAlerts } from "../../mutations/alerts.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

const route = getRouteApi("/alerts/off");

/** Opening the link changes nothing, because email scanners open links. They do not press buttons. */
export function AlertsOffPage() {
  const { token } = route.useSearch();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [isOff, setOff] = useState(false);

  async function turnOff(token: string): Promise<void> {
    setBusy(true);
    const answer = await turnOffAlerts(token);
    setBusy(false);
    setFailure(answer.ok ? undefined : answer.failure);
    setOff(answer.ok);
  }

  if (isOff) {
    return (
      <AuthLayout title="Email alerts are off">
        <Notice tone="good" role="status">
          You will get no more emails about tests. You can turn them on again in your settings.
        </Notice>
        <Link to="/settings/alerts">Alert settings</Link>
      </AuthLayout>
    );
  }
  if (token === undefined) {
    return (
      <AuthLayout title="Incomplete link">
        <Notice tone="warn">Open the full link from the email, or turn alerts off in your settings.</Notice>
        <Link to="/settings/alerts">Alert settings</Link>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Turn off email alerts">
      <p>Get no more emails when tests start failing or pass again. Webhooks are not affected.</p>
      <FailureNotice failure={failure} />
      <Button look="main" busy={busy} onClick={() => void turnOff(token)}>
        Turn off email alerts
      </Button>
    </AuthLayout>
  );
}
