// Signs in with email and password.
import { getRouteApi, Link } from "@tanstack/react-router";
import { EmailField } from "../../forms/EmailField.tsx";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { useSignedIn } from "../../forms/sign-in.ts";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { signIn } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

const route = getRouteApi("/guest/sign-in");

export function SignInPage() {
  const { next } = route.useSearch();
  const signedIn = useSignedIn(next);
  const { form, busy, faults, failure } = useSubmit({
    send: fields => signIn({ email: textOf(fields, "email"), password: textOf(fields, "password") }),
    done: signedIn,
  });
  return (
    <AuthLayout title="Sign in">
      {next && <Notice tone="info">Sign in to continue.</Notice>}
      <form {...form} className="stack">
        <EmailField fault={faults["email"]} />
        <PasswordField label="Password" name="password" fault={faults["password"]} />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          Sign in
        </Button>
      </form>
      <p className="line line-apart">
        <Link to="/forgot-password">Forgot your password?</Link>
        <Link to="/sign-up" search={next ? { next } : {}}>
          Create account
        </Link>
      </p>
    </AuthLayout>
  );
}
