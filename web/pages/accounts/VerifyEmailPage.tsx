// Opens the link from the verification email. Without a token, shows whether the email is verified.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import type { LinkState } from "../../../src/model/account.ts";
import type { Failure } from "../../api.ts";
import { confirmVerification } from "../../mutations/account.ts";
import { linkQuery, sessionQuery, verificationQuery } from "../../queries/account.ts";
import { AuthLayout } from "../../shell/AuthLayout.tsx";
import { VerificationActions, verifiedText, WhereTheLinkIs } from "../../shell/VerificationBanner.tsx";
import { Button } from "../../ui/Button.tsx";
import { FailureNotice, Notice } from "../../ui/Notice.tsx";
import { Loaded } from "../../ui/State.tsx";

const route = getRouteApi("/verify-email");

export function VerifyEmailPage() {
  const { token } = route.useSearch();
  return token === undefined ? <VerificationStatus /> : <OpenedLink token={token} />;
}

const spent: Record<Exclude<LinkState, "open">, { title: string; text: string }> = {
  used: {
    title: "Link already used",
    text: "Your email is verified. You can close this page.",
  },
  expired: { title: "Link expired", text: "The link was valid for 24 hours." },
  unknown: { title: "Invalid link", text: "Open the full link from the email." },
};

/** Opening the link changes nothing, because email scanners open links. They do not press buttons. */
function OpenedLink({ token }: { token: string }) {
  const queries = useQueryClient();
  const link = useQuery(linkQuery(token));
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const [confirmed, setConfirmed] = useState(false);

  async function confirm(): Promise<void> {
    setBusy(true);
    const answer = await confirmVerification(token);
    setBusy(false);
    if (answer.ok) setConfirmed(true);
    else if (["CONFLICT", "NOT_FOUND"].includes(answer.failure.code)) await link.refetch();
    else setFailure(answer.failure);
    await queries.invalidateQueries({ queryKey: verificationQuery.queryKey });
  }

  if (confirmed) {
    return (
      <AuthLayout title="Email verified">
        <Notice tone="good" role="status">
          {verifiedText}
        </Notice>
        <Link to="/" className="button" data-look="main">
          Go to the dashboard
        </Link>
      </AuthLayout>
    );
  }
  if (link.data && link.data.state !== "open") {
    const { title, text } = spent[link.data.state];
    return (
      <AuthLayout title={title}>
        <Notice tone={link.data.state === "used" ? "good" : "warn"} role="status">
          {text}
        </Notice>
        {link.data.state === "used" ? <Link to="/">Go to the dashboard</Link> : <RequestNewLink />}
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Confirm your email">
      <Loaded query={link}>
        {() => (
          <>
            <p>Your API keys can send traces once your email is confirmed.</p>
            <FailureNotice failure={failure} />
            <Button look="main" busy={busy} onClick={() => void confirm()}>
              Confirm email
            </Button>
          </>
        )}
      </Loaded>
    </AuthLayout>
  );
}

function VerificationStatus() {
  return (
    <AuthLayout title="Verify your email">
      <RequestNewLink />
    </AuthLayout>
  );
}

/** Resends the verification email. Needs a session. */
function RequestNewLink() {
  const session = useQuery(sessionQuery);
  const verification = useQuery({ ...verificationQuery, enabled: session.data != null });
  if (session.data === null) {
    return (
      <p>
        <Link to="/sign-in" search={{ next: "/verify-email" }}>
          Sign in
        </Link>{" "}
        to request a new link.
      </p>
    );
  }
  if (session.data === undefined) return <Loaded query={session}>{() => null}</Loaded>;
  return (
    <Loaded query={verification}>
      {status =>
        status.verified ? (
          <>
            <Notice tone="good" role="status">
              Email verified. {verifiedText}
            </Notice>
            <Link to="/">Go to the dashboard</Link>
          </>
        ) : (
          <>
            <p>
              <WhereTheLinkIs verification={status} />
            </p>
            <VerificationActions verification={status} />
          </>
        )
      }
    </Loaded>
  );
}
