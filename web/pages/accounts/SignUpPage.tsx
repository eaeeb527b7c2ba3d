// Creates an account.
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { EmailField } from "../../forms/EmailField.tsx";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { useSignedIn } from "../../forms/sign-in.ts";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { signUp } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";

const route = getRouteApi("/guest/sign-up");

export function SignUpPage() {
  const { next } = route.useSearch();
  const signedIn = useSignedIn(next);
  const [sentTo, setSentTo] = useState<string>();
  const { form, busy, faults, failure } = useSubmit({
    send: async fields => {
      const [name, email] = [textOf(fields, "name").trim(), textOf(fields, "email")];
      const answer = await signUp({ email, password: textOf(fields, "password"), ...(name && { name }) });
      return answer.ok ? { ok: true, value: answer.value.signedIn ? undefined : email } : answer;
    },
    fieldOf: ({ code }) => (code === "CONFLICT" ? "email" : undefined),
    done: email => (email === undefined ? signedIn() : setSentTo(email)),
  });
  const search = next ? { next } : {};
  if (sentTo !== undefined) {
    return (
      <AuthLayout title="Check your email">
        <Notice tone="info" role="status">
          The email we sent to <strong className="break">{sentTo}</strong> says how to continue.
        </Notice>
        <p className="line line-apart">
          <Link to="/sign-in" search={search}>
            Sign in
          </Link>
          <Link to="/forgot-password">Reset your password</Link>
        </p>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Create account">
      <form {...form} className="stack">
        <EmailField
          maxLength={254}
          hint="Traces are accepted once your email is verified."
          fault={faults["email"]}
        />
        <PasswordField label="Password" name="password" fresh fault={faults["password"]} />
        <Field
          label="Your name (optional)"
          name="name"
          maxLength={200}
          autoComplete="name"
          fault={faults["name"]}
        />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          Create account
        </Button>
      </form>
      <p>
        Already have an account?{" "}
        <Link to="/sign-in" search={search}>
          Sign in
        </Link>
      </p>
    </AuthLayout>
  );
}
