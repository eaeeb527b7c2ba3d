// Creates an account.
import { getRouteApi, Link } from "@tanstack/react-router";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { useSignedIn } from "../../forms/sign-in.ts";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { signUp } from "../../mutations/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { Button } from "../../ui/Button.tsx";
import { Field } from "../../ui/Field.tsx";
import { FailureNotice } from "../../ui/Notice.tsx";

const route = getRouteApi("/guest/sign-up");

export function SignUpPage() {
  const { next } = route.useSearch();
  const signedIn = useSignedIn(next);
  const { form, busy, faults, failure } = useSubmit({
    send: fields => {
      const name = textOf(fields, "name").trim();
      return signUp({
        email: textOf(fields, "email"),
        password: textOf(fields, "password"),
        ...(name && { name }),
      });
    },
    fieldOf: ({ code }) => (code === "CONFLICT" ? "email" : undefined),
    done: signedIn,
  });
  return (
    <AuthLayout title="Create account">
      <form {...form} className="stack">
        <Field
          label="Email"
          name="email"
          type="email"
          required
          maxLength={254}
          autoComplete="username"
          hint="We send a verification link. Traces are accepted once your email is verified."
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
        <Link to="/sign-in" search={next ? { next } : {}}>
          Sign in
        </Link>
      </p>
    </AuthLayout>
  );
}
