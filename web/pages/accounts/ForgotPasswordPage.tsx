// Requests the email with a password reset link.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { ResetRequested } from "../../../src/http/accounts/schemas.ts";
import { EmailField } from "../../forms/EmailField.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { requestPasswordReset } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

type Sent = ResetRequested & { email: string };

export function ForgotPasswordPage() {
  const [sent, setSent] = useState<Sent>();
  const { form, busy, faults, failure } = useSubmit<Sent>({
    send: async fields => {
      const email = textOf(fields, "email");
      const answer = await requestPasswordReset(email);
      return answer.ok ? { ok: true, value: { email, ...answer.value } } : answer;
    },
    done: setSent,
  });
  return (
    <AuthLayout title="Reset your password">
      {sent && (
        <Notice tone={sent.mailServer ? "good" : "warn"} role="status">
          {!sent.mailServer && "No mail server is configured. "}If{" "}
          <strong className="break">{sent.email}</strong> has an account,{" "}
          {sent.mailServer
            ? "a reset link is on its way"
            : "its reset link is in the service’s log and outbox folder"}
          . It works once and expires in 1 hour.
        </Notice>
      )}
      <form {...form} className="stack">
        <EmailField fault={faults["email"]} />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          {sent ? "Resend link" : "Send link"}
        </Button>
      </form>
      <p>
        <Link to="/sign-in">Back to sign in</Link>
      </p>
    </AuthLayout>
  );
}
