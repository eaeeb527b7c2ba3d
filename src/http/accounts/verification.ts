// /api/verification: the verification state of the email, resending the email, and confirming its link.

import type { FastifyRequest } from "fastify";
import { z } from "zod";
import type { Account, LinkState } from "../../model/account.ts";
import { Refusal } from "../../model/refusal.ts";
import { getVerification } from "../../store/accounts/accounts.ts";
import { confirmEmailLink, findLinkState } from "../../store/accounts/email-links.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { limitAttempts } from "./attempt-limits.ts";
import type { LocalLinks } from "./local-links.ts";
import { Verification, VerificationLink, Verified } from "./schemas.ts";
import { deliverLink, hashToken, linkOf, newLink } from "./verification-mail.ts";

const Token = z.string().min(1).max(200);
export function registerVerification(app: App, deps: Deps, localLinks: LocalLinks): void {
  const route = routesOf(app, "accounts");
  const stateOf = async ({ id }: Account, { raw }: FastifyRequest) => {
    const verification = await getVerification(deps.db, id);
    return {
      ...verification,
      mailServer: Boolean(deps.config.smtpUrl),
      baseUrl: deps.config.baseUrl,
      link: verification.verified ? null : await localLinks.find(id, raw),
    };
  };

  route("GET /api/verification", {
    access: "session",
    summary: "Get the verification state of the email",
    answer: Verification,
    handler: ({ account, request }) => stateOf(account, request),
  });

  route("POST /api/verification/resend", {
    access: "session",
    summary: "Resend the verification email",
    answer: Verification,
    handler: async ({ account, request }) => {
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
      return stateOf(account, request);
    },
  });

  route("POST /api/verification/confirm", {
    access: "open",
    summary: "Verify the email with the token from the link",
    body: z.object({ token: Token }),
    answer: Verified,
    handler: async ({ body: { token }, request: { clientIp: ip } }) =>
      limitAttempts(deps, "/verification/confirm", { ip }, () => confirm(deps, token)),
  });

  route("POST /api/verification/link", {
    access: "open",
    summary: "Get the state of a verification link without using it",
    body: z.object({ token: z.string().max(200) }),
    answer: VerificationLink,
    handler: async ({ body: { token }, request: { clientIp: ip } }) =>
      limitAttempts(deps, "/verification/link", { ip }, async () => ({
        state: await findLinkState(deps.db, hashToken(token)),
      })),
  });
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
