// Sets a new password with the token from the reset email.
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { RevokeTokensField, revokesTokens, tokensLeftText } from "../../forms/RevokeTokensField.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { resetPassword } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

const route = getRouteApi("/reset-password");

export function ResetPasswordPage() {
  const { token } = route.useSearch();
  const queries = useQueryClient();
  const [tokensLeft, setTokensLeft] = useState<number>();
  const { form, busy, faults, failure } = useSubmit({
    send: fields =>
      resetPassword({
        token,
        newPassword: textOf(fields, "newPassword"),
        revokeAccessTokens: revokesTokens(fields),
      }),
    done: ({ activeAccessTokens }) => {
      queries.clear();
      setTokensLeft(activeAccessTokens);
    },
  });
  if (tokensLeft !== undefined) {
    return (
      <AuthLayout title="Password changed">
        <Notice tone="good" role="status">
          All sessions were signed out. Sign in with your new password.
        </Notice>
        {tokensLeft > 0 && <Notice tone="warn">{tokensLeftText(tokensLeft)}</Notice>}
        <Link to="/sign-in" className="button" data-look="main">
          Sign in
        </Link>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Choose a new password">
      {token === undefined && (
        <Notice tone="warn">This link is incomplete. Open the full link from the email.</Notice>
      )}
      <form {...form} className="stack">
        <PasswordField label="New password" name="newPassword" fresh fault={faults["newPassword"]} />
        <RevokeTokensField />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          Change password
        </Button>
      </form>
      <p>
        Link used or expired? <Link to="/forgot-password">Request a new one</Link>
      </p>
    </AuthLayout>
  );
}
