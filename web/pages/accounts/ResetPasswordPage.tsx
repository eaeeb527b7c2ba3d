// Choosing a new password, with the token of the mail.

import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { resetPassword } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

const route = getRouteApi("/reset-password");

export function ResetPasswordPage() {
  const { token } = route.useSearch();
  const queries = useQueryClient();
  const [changed, setChanged] = useState(false);
  const { form, busy, faults, failure } = useSubmit({
    send: fields => resetPassword({ token, newPassword: textOf(fields, "newPassword") }),
    done: () => {
      queries.clear();
      setChanged(true);
    },
  });
  if (changed) {
    return (
      <AuthLayout title="Your password is changed">
        <Notice tone="good" role="status">
          Every session was ended. Sign in with the new password.
        </Notice>
        <Link to="/sign-in" className="button" data-look="main">
          Sign in
        </Link>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Choose a new password">
      {token === undefined && (
        <Notice tone="warn">This address has no token: open the link of the mail as a whole.</Notice>
      )}
      <form {...form} className="stack">
        <PasswordField label="New password" name="newPassword" fresh fault={faults["newPassword"]} />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          Change password
        </Button>
      </form>
      <p>
        Is the link used or an hour old? <Link to="/forgot-password">Send another</Link>
      </p>
    </AuthLayout>
  );
}
