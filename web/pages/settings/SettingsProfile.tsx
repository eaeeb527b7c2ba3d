// Profile settings: name, email, password and deletion of the account.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { textDrafting } from "../../forms/draft.ts";
import { PasswordField } from "../../forms/PasswordField.tsx";
import { RevokeTokensField, revokesTokens, tokensLeftText } from "../../forms/RevokeTokensField.tsx";
import { SubmitRow } from "../../forms/SubmitRow.tsx";
import { textOf, useSubmit } from "../../forms/submit.ts";
import { useDraft } from "../../forms/use-draft.ts";
import { changePassword, deleteAccount, renameAccount } from "../../mutations/account.ts";
import { accessTokensQuery } from "../../queries/access-tokens.ts";
import { sessionQuery, sessionsQuery, verificationQuery } from "../../queries/account.ts";
import { readNow } from "../../queries/client.ts";
import { pageSession } from "../../session.ts";
import { Badge } from "../../ui/Badge.tsx";
import { Button } from "../../ui/Button.tsx";
import { Dialog } from "../../ui/Dialog.tsx";
import { Field } from "../../ui/Field.tsx";
import { Loaded } from "../../ui/State.tsx";
import { toast } from "../../ui/Toast.tsx";

export function SettingsProfile() {
  const session = useQuery(sessionQuery);
  return (
    <>
      <section className="card stack">
        <h2>Profile</h2>
        <Loaded query={session}>{signedIn => <NameForm name={signedIn?.user.name ?? ""} />}</Loaded>
      </section>
      <section className="card stack">
        <h2>Password</h2>
        <PasswordForm />
      </section>
      <DeleteAccount />
    </>
  );
}

function NameForm({ name }: { name: string }) {
  const queries = useQueryClient();
  const { data: verification } = useQuery(verificationQuery);
  const { draft, ...drafted } = useDraft(
    name,
    textDrafting,
    async () => (await readNow(queries, sessionQuery))?.user.name ?? "",
  );
  const { form, faults, ...row } = useSubmit({
    draft: drafted,
    send: () => renameAccount(draft),
    done: async () => {
      drafted.settle(draft, draft);
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      toast("Name saved");
    },
  });
  return (
    <form {...form} className="stack">
      <dl className="facts">
        <dt>Email</dt>
        <dd>
          <span className="break">{verification?.email}</span>
          {verification && (
            <Badge
              word={
                verification.verified
                  ? { text: "Verified", icon: "check", tone: "good" }
                  : { text: "Not verified", icon: "warning", tone: "warn" }
              }
            />
          )}
        </dd>
      </dl>
      <Field
        label="Name"
        name="name"
        required
        maxLength={200}
        value={draft}
        onChange={({ target }) => drafted.replace(target.value)}
        autoComplete="name"
        fault={faults["name"]}
      />
      <SubmitRow {...row}>Save</SubmitRow>
    </form>
  );
}

function PasswordForm() {
  const queries = useQueryClient();
  const [round, setRound] = useState(0);
  const { form, busy, faults, failure } = useSubmit({
    send: fields =>
      changePassword({
        currentPassword: textOf(fields, "currentPassword"),
        newPassword: textOf(fields, "newPassword"),
        revokeAccessTokens: revokesTokens(fields),
      }),
    done: async ({ activeAccessTokens }) => {
      setRound(round + 1);
      toast(`Password changed. All other sessions have ended. ${tokensLeftText(activeAccessTokens)}`.trim());
      await queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
      await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
      await queries.invalidateQueries({ queryKey: accessTokensQuery.queryKey });
    },
  });
  return (
    <form key={round} {...form} className="stack">
      <PasswordField label="Current password" name="currentPassword" fault={faults["currentPassword"]} />
      <PasswordField label="New password" name="newPassword" fresh fault={faults["newPassword"]} />
      <RevokeTokensField />
      <SubmitRow failure={failure} busy={busy}>
        Change password
      </SubmitRow>
    </form>
  );
}

function DeleteAccount() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  const { form, busy, faults, failure } = useSubmit({
    send: fields => deleteAccount(textOf(fields, "password")),
    done: async () => {
      pageSession.signedOut();
      queries.setQueryData(sessionQuery.queryKey, null);
      toast("Account deleted");
      await navigate({ to: "/sign-up", replace: true, ignoreBlocker: true });
    },
  });
  return (
    <section className="card stack">
      <h2>Delete account</h2>
      <p className="quiet">
        Also deletes every project with its agents, keys, test cases, traces and results.
      </p>
      <div>
        <Button icon="trash" onClick={() => setOpen(true)}>
          Delete account…
        </Button>
      </div>
      {open && (
        <Dialog
          title="Delete account"
          about="Also deletes every project and its data. This cannot be undone."
          alert
          onClose={() => setOpen(false)}
        >
          <form {...form} className="stack">
            <PasswordField label="Password" name="password" fault={faults["password"]} />
            <SubmitRow failure={failure} busy={busy} look="danger" onCancel={() => setOpen(false)}>
              Delete account
            </SubmitRow>
          </form>
        </Dialog>
      )}
    </section>
  );
}
