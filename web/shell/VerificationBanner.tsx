// Banner for an unverified email: where the link is, resend, and check again.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Verification } from "../../src/http/accounts/schemas.ts";
import { ask } from "../api.ts";
import { resendVerification } from "../mutations/account.ts";
import { verificationQuery } from "../queries/account.ts";
import { Button } from "../ui/Button.tsx";
import { Icon } from "../ui/Icon.tsx";
import { FailureNotice } from "../ui/Notice.tsx";
import { useNow } from "../ui/now.ts";
import { remainingText } from "../ui/Time.tsx";
import { toast } from "../ui/Toast.tsx";

export const verifiedText = "Your keys work now. Resend rejected traces with the same x-request-id.";

export function VerificationBanner() {
  const { data: verification } = useQuery(verificationQuery);
  if (!verification || verification.verified) return null;
  return (
    <section className="banner" aria-label="Email verification">
      <Icon name="mail" />
      <div className="stack-tight">
        <p>
          <strong>Verify your email.</strong> Until then, traces are rejected with 403{" "}
          <code>EMAIL_NOT_VERIFIED</code>, and agents, judges and webhooks cannot be called.{" "}
          <WhereTheLinkIs verification={verification} />
        </p>
        <VerificationActions verification={verification} />
      </div>
    </section>
  );
}

/** One sentence: the email that received the link, or where to find the link without a mail server. */
export function WhereTheLinkIs({
  verification: { email, mailServer, link },
}: {
  verification: Verification;
}) {
  const recipient = <strong className="break">{email}</strong>;
  if (link !== null) {
    return (
      <>
        No mail server is configured, so here is the link for {recipient}: <a href={link}>Verify email</a>
      </>
    );
  }
  if (mailServer) return <>The link was sent to {recipient}.</>;
  return (
    <>No mail server is configured: the link for {recipient} is in the service’s log and outbox folder.</>
  );
}

/** Buttons to check the verification again and to resend the email, with the countdown until resending is allowed. */
export function VerificationActions({ verification }: { verification: Verification }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<"resend" | "check">();
  const [result, setResult] = useState("");
  const [failure, setFailure] = useState<Parameters<typeof FailureNotice>[0]["failure"]>();
  // Counted from now, so that a wrong clock on this machine does not matter.
  const [limitedUntil, setLimitedUntil] = useState(0);
  const allowedAt = Math.max(Date.parse(verification.resendAllowedAt ?? "") || 0, limitedUntil);
  const [waiting, setWaiting] = useState(true);
  const now = useNow(waiting ? 1_000 : null);
  const remaining = allowedAt - now;
  if (remaining > 0 !== waiting) setWaiting(remaining > 0);

  const begin = (what: "resend" | "check") => {
    setBusy(what);
    setResult("");
    setFailure(undefined);
  };

  async function resend(): Promise<void> {
    begin("resend");
    const answer = await resendVerification();
    setBusy(undefined);
    if (answer.ok) {
      queries.setQueryData(verificationQuery.queryKey, answer.value);
      return setResult(
        answer.value.mailServer
          ? `Sent to ${answer.value.email}. Check your spam folder too.`
          : answer.value.link === null
            ? "A new link is in the service’s log"
            : "New link created",
      );
    }
    const { code, retryAfterSeconds } = answer.failure;
    if (code === "CONFLICT") return check();
    if (code !== "RATE_LIMITED" || !retryAfterSeconds) return setFailure(answer.failure);
    setLimitedUntil(Date.now() + retryAfterSeconds * 1000);
  }

  async function check(): Promise<void> {
    begin("check");
    const answer = await ask<Verification>("GET", "/api/verification");
    setBusy(undefined);
    if (!answer.ok) return setFailure(answer.failure);
    if (!answer.value.verified) setResult("Not verified yet. Open the link and confirm.");
    else toast(`Email verified. ${verifiedText}`);
    queries.setQueryData(verificationQuery.queryKey, answer.value);
  }

  return (
    <>
      <div className="line">
        <Button small busy={busy === "check"} onClick={() => void check()}>
          I’ve verified my email
        </Button>
        {remaining > 0 ? (
          <span className="quiet small">
            {remaining > 90_000 && "Limit: 5 emails per hour. "}Resend in {remainingText(remaining)}
          </span>
        ) : (
          <Button small busy={busy === "resend"} onClick={() => void resend()}>
            Resend
          </Button>
        )}
        <span role="status" className="small">
          {result}
        </span>
      </div>
      <FailureNotice failure={failure} />
    </>
  );
}
