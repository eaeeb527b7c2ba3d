// Requests the email with a password reset link.
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { EmailField } from "../../forms/EmailField.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { requestPasswordReset } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string>();
  const { form, busy, faults, failure } = useSubmit<string>({
    send: async fields => {
      const email = textOf(fields, "email");
      const answer = await requestPasswordReset(email);
      return answer.ok ? { ok: true, value: email } : answer;
    },
    done: setSentTo,
  });
  return (
    <AuthLayout title="Reset your password">
      {sentTo !== undefined && (
        <Notice tone="good" role="status">
          If <strong className="break">{sentTo}</strong> has an account, a reset link is on its way. It works
          once and expires in 1 hour.
        </Notice>
      )}
      <form {...form} className="stack">
        <EmailField fault={faults["email"]} />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          {sentTo === undefined ? "Send link" : "Resend link"}
        </Button>
      </form>
      <p>
        <Link to="/sign-in">Back to sign in</Link>
      </p>
    </AuthLayout>
  );
}
