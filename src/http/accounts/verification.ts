// /api/verification: the verification state of the email, resending the email, and confirming its link.

import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { LinkState } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";
import { getVerification } from "../../store/accounts/accounts.ts";
import { confirmEmailLink, findLinkState } from "../../store/accounts/email-links.ts";
import type { App, Deps } from "../deps.ts";
import { requireAccount } from "../signed-in.ts";
import { limitAttempts } from "./attempt-limits.ts";
import type { LocalLinks } from "./local-links.ts";
import { Verification, VerificationLink, Verified } from "./schemas.ts";
import { deliverLink, hashToken, linkOf, newLink } from "./verification-mail.ts";

const Token = z.string().min(1).max(200);
export function registerVerification(app: App, deps: Deps, localLinks: LocalLinks): void {
  const tags = ["accounts"];
  const stateOf = async (request: FastifyRequest) => {
    const { id } = requireAccount(request);
    const verification = await getVerification(deps.db, id);
    return {
      ...verification,
      mailServer: Boolean(deps.config.smtpUrl),
      baseUrl: deps.config.baseUrl,
      link: verification.verified ? null : await localLinks.find(id, request.raw),
    };
  };

  app.get(
    "/api/verification",
    { schema: { tags, summary: "Get the verification state of the email", response: { 200: Verification } } },
    async request => stateOf(request),
  );

  app.post(
    "/api/verification/resend",
    { schema: { tags, summary: "Resend the verification email", response: { 200: Verification } } },
    async request => {
      const account = requireAccount(request);
      const link = await newLink(deps, account.id);
      if (link.state === "verified") {
        throw new Refusal("CONFLICT", { message: "This email is already verified." });
      }
      if (link.state === "too_soon") {
        throw new Refusal("RATE_LIMITED", {
          message: "Limit: one verification email per minute, 5 per hour.",
          hint: `Check your spam folder, or try again in ${link.retryAfterSeconds} s.`,
          retryAfterSeconds: link.retryAfterSeconds,
        });
      }
      await deliverLink(deps, link);
      await localLinks.keep(account.id, linkOf(deps, link));
      return stateOf(request);
    },
  );

  app.post(
    "/api/verification/confirm",
    {
      config: { open: true },
      schema: {
        tags,
        summary: "Verify the email with the token from the link",
        body: z.object({ token: Token }),
        response: { 200: Verified },
      },
    },
    async ({ clientIp: ip, body: { token } }) =>
      limitAttempts(deps, "/verification/confirm", { ip }, () => confirm(deps, token)),
  );

  app.post(
    "/api/verification/link",
    {
      config: { open: true },
      schema: {
        tags,
        summary: "Get the state of a verification link without using it",
        body: z.object({ token: z.string().max(200) }),
        response: { 200: VerificationLink },
      },
    },
    async ({ clientIp: ip, body: { token } }) =>
      limitAttempts(deps, "/verification/link", { ip }, async () => ({
        state: await findLinkState(deps.db, hashToken(token)),
      })),
  );
}

async function confirm(deps: Deps, token: string): Promise<{ verified: true }> {
  const state = await confirmEmailLink(deps.db, hashToken(token));
  if (state !== "confirmed") throw linkRefusal(state);
  return { verified: true };
}

function linkRefusal(state: Exclude<LinkState, "open">): Refusal {
  switch (state) {
    case "used":
      return new Refusal("CONFLICT", {
        message: "This link was already used.",
        hint: "Your email is verified. Nothing else to do.",
      });
    case "expired":
      return new Refusal("CONFLICT", {
        message: "This link has expired: it was valid for 24 hours.",
        hint: "Unless your email is already verified, sign in and resend the email.",
      });
    case "unknown":
      return new Refusal("NOT_FOUND", {
        message: "Unknown link.",
        hint: "Open the full link from the email, or sign in and resend it.",
      });
  }
}
