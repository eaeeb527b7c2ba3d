// The lasting reminder of an address that is not verified, with every way on from there.

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

export const verifiedText =
  "Existing keys work now. Send refused traces again, with the same x-request-id where they had one.";

export function VerificationBanner() {
  const { data: verification } = useQuery(verificationQuery);
  if (!verification || verification.verified) return null;
  return (
    <section className="banner" aria-label="Email verification">
      <Icon name="mail" />
      <div className="stack-tight">
        <p>
          <strong>Verify your email address.</strong> Until then traces are refused with 403{" "}
          <code>EMAIL_NOT_VERIFIED</code>. <WhereTheLinkIs verification={verification} />
        </p>
        <VerificationActions verification={verification} />
      </div>
    </section>
  );
}

/** One sentence: to whom the mail went, or where to look on a service that sends none. */
export function WhereTheLinkIs({ verification: { email, mailServer } }: { verification: Verification }) {
  const address = <strong className="break">{email}</strong>;
  if (mailServer) return <>The link was sent to {address}.</>;
  return (
    <>
      This service has no mail server: the link for {address} is in its log, and as a mail in its outbox
      folder.
    </>
  );
}

/** Sending the mail again, as soon as that is allowed, and looking whether the address is verified by now. */
export function VerificationActions({ verification }: { verification: Verification }) {
  const queries = useQueryClient();
  const [busy, setBusy] = useState<"resend" | "check">();
  const [said, setSaid] = useState("");
  const [failure, setFailure] = useState<Parameters<typeof FailureNotice>[0]["failure"]>();
  // A refusal counts from now, whatever this machine's clock says.
  const [refusedUntil, setRefusedUntil] = useState(0);
  const allowedAt = Math.max(Date.parse(verification.resendAllowedAt ?? "") || 0, refusedUntil);
  const [waiting, setWaiting] = useState(true);
  const now = useNow(waiting ? 1_000 : null);
  const remaining = allowedAt - now;
  if (remaining > 0 !== waiting) setWaiting(remaining > 0);

  const begin = (what: "resend" | "check") => {
    setBusy(what);
    setSaid("");
    setFailure(undefined);
  };

  async function resend(): Promise<void> {
    begin("resend");
    const answer = await resendVerification();
    setBusy(undefined);
    if (answer.ok) {
      queries.setQueryData(verificationQuery.queryKey, answer.value);
      return setSaid(
        answer.value.mailServer
          ? `Sent to ${answer.value.email}. Look among unwanted mail too.`
          : "A new link is in the service’s log.",
      );
    }
    const { code, retryAfterSeconds } = answer.failure;
    if (code === "CONFLICT") return check();
    if (code !== "RATE_LIMITED" || !retryAfterSeconds) return setFailure(answer.failure);
    setRefusedUntil(Date.now() + retryAfterSeconds * 1000);
  }

  async function check(): Promise<void> {
    begin("check");
    const answer = await ask<Verification>("GET", "/api/verification");
    setBusy(undefined);
    if (!answer.ok) return setFailure(answer.failure);
    if (!answer.value.verified) setSaid("Still unverified: open the link in the mail and confirm there.");
    else toast(`Your address is verified. ${verifiedText}`);
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
            {remaining > 90_000 && "Five mails an hour are the most. "}Resend in {remainingText(remaining)}
          </span>
        ) : (
          <Button small busy={busy === "resend"} onClick={() => void resend()}>
            Resend
          </Button>
        )}
        <span role="status" className="small">
          {said}
        </span>
      </div>
      <FailureNotice failure={failure} />
    </>
  );
}
