// Where the verification mail's link leads; without a token, where the verification stands.

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
  return token === undefined ? <Standing /> : <OpenedLink token={token} />;
}

const spent: Record<Exclude<LinkState, "open">, { title: string; text: string }> = {
  used: {
    title: "This link has been used already",
    text: "Your address is verified; there is nothing left to do.",
  },
  expired: { title: "This link has expired", text: "It was valid for 24 hours. Have another one sent." },
  unknown: {
    title: "This link is not known",
    text: "Open the link of the mail as a whole, or have another one sent.",
  },
};

/** Opening the link changes nothing: scanners of mail open links, but press no buttons. */
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
      <AuthLayout title="Your address is verified">
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
        {link.data.state === "used" ? <Link to="/">Go to the dashboard</Link> : <Another />}
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="Confirm your email address">
      <Loaded query={link}>
        {() => (
          <>
            <p>Confirm this address to let your API keys send traces.</p>
            <FailureNotice failure={failure} />
            <Button look="main" busy={busy} onClick={() => void confirm()}>
              Confirm email address
            </Button>
          </>
        )}
      </Loaded>
    </AuthLayout>
  );
}

function Standing() {
  return (
    <AuthLayout title="Verify your email address">
      <Another />
    </AuthLayout>
  );
}

/** Another mail, for whoever is signed in. */
function Another() {
  const session = useQuery(sessionQuery);
  const verification = useQuery({ ...verificationQuery, enabled: session.data != null });
  if (session.data === null) {
    return (
      <p>
        <Link to="/sign-in" search={{ next: "/verify-email" }}>
          Sign in
        </Link>{" "}
        to have a link sent.
      </p>
    );
  }
  if (session.data === undefined) return <Loaded query={session}>{() => null}</Loaded>;
  return (
    <Loaded query={verification}>
      {standing =>
        standing.verified ? (
          <>
            <Notice tone="good" role="status">
              Your address is verified. {verifiedText}
            </Notice>
            <Link to="/">Go to the dashboard</Link>
          </>
        ) : (
          <>
            <p>
              <WhereTheLinkIs verification={standing} />
            </p>
            <VerificationActions verification={standing} />
          </>
        )
      }
    </Loaded>
  );
}
