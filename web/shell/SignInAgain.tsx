// Dialog over the page when its session has ended: signs in again as the same account, so that nothing typed is lost.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { EmailField } from "../forms/EmailField.tsx";
import { PasswordField } from "../forms/PasswordField.tsx";
import { textOf, useSubmit } from "../forms/submit.ts";
import { signIn } from "../mutations/account.ts";
import { sessionQuery } from "../queries/account.ts";
import { type Member, pageSession, type SessionState } from "../session.ts";
import { Button } from "../ui/Button.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { FailureNotice } from "../ui/Notice.tsx";

export function SignInAgain() {
  const queries = useQueryClient();
  const state = useSyncExternalStore(pageSession.subscribe, () => pageSession.state);
  useEffect(
    () =>
      pageSession.subscribe(() => {
        if (pageSession.member && pageSession.state.kind === "active") void refresh(queries);
      }),
    [queries],
  );
  const { member } = pageSession;
  if (state.kind === "active" || !state.isAsking || !member) return null;
  return <SignInDialog member={member} state={state} />;
}

type SignInDialogProps = { member: Member; state: Exclude<SessionState, { kind: "active" }> };

function SignInDialog({ member, state }: SignInDialogProps) {
  const queries = useQueryClient();
  useRevivedElsewhere(queries);
  const { form, busy, faults, failure } = useSubmit({
    send: fields => signIn({ email: member.email, password: textOf(fields, "password") }),
    done: ({ user }) => pageSession.signedIn(user),
  });
  const other = state.kind === "other" ? state.email : undefined;
  return (
    <Dialog
      title={other === undefined ? "Your session has ended" : "Signed in as another account"}
      about={
        other === undefined ? (
          "Sign in again to continue. Your changes on this page are still here."
        ) : (
          <>
            This browser is now signed in as <strong>{other}</strong>, but this page belongs to{" "}
            <strong>{member.email}</strong>. Sign in again to keep your changes on this page.
          </>
        )
      }
      onClose={() => pageSession.dismiss()}
    >
      <form {...form} className="stack">
        <EmailField value={member.email} readOnly fault={faults["email"]} />
        <PasswordField label="Password" name="password" fault={faults["password"]} />
        <FailureNotice failure={failure} />
        <Button type="submit" look="main" busy={busy}>
          Sign in
        </Button>
      </form>
      <a href="/forgot-password" target="_blank" rel="noreferrer">
        Forgot your password?
      </a>
      <p className="small quiet">
        Or {/* The session check of the reloaded page opens it as the new account, or the sign-in page. */}
        <Button look="link" onClick={() => location.reload()}>
          {other === undefined ? "use another account" : `open this page as ${other}`}
        </Button>
        . Unsaved changes on this page will be lost.
      </p>
    </Dialog>
  );
}

/** Looks for a session when the user returns to this tab, in case the message of the other tab was missed. */
function useRevivedElsewhere(queries: QueryClient): void {
  useEffect(() => {
    const look = () => {
      if (!document.hidden) void queries.refetchQueries({ queryKey: sessionQuery.queryKey });
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [queries]);
}

/** Reads the new session, and whatever failed while there was none. */
async function refresh(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
  await queries.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" });
}
