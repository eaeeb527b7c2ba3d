// Verifying an address, and choosing a new password: the routes behind the links of our mails.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { LinkState } from "../model/account.ts";
import { Refusal } from "../model/refusal.ts";
import { getVerification } from "../store/accounts.ts";
import { confirmEmailLink, findLinkState } from "../store/email-links.ts";
import { forward } from "./accounts.ts";
import { type Auth, passwordLengthMax, passwordLengthMin } from "./accounts-auth.ts";
import type { App, Deps } from "./deps.ts";
import { asRefusal, refuse } from "./refuse.ts";
import { requireAccount } from "./session.ts";
import { deliverLink, hashToken, newLink } from "./verification-mail.ts";
import { choosePassword, confirmAddress, notice, pagePolicy } from "./verification-pages.ts";

const Token = z.string().min(1).max(200);
const Verified = z.object({ verified: z.literal(true) });
const State = z.object({
  email: z.string(),
  verified: z.boolean(),
  resendAllowedAt: z.iso
    .datetime()
    .nullable()
    .describe("When the next mail may be asked for; null is now, or never needed again."),
});

export async function registerVerification(app: App, deps: Deps, auth: Auth): Promise<void> {
  const tags = ["accounts"];

  app.get(
    "/api/verification",
    { schema: { tags, summary: "Whether the address is verified", response: { 200: State } } },
    async request => getVerification(deps.db, requireAccount(request).id),
  );

  app.post(
    "/api/verification/resend",
    { schema: { tags, summary: "Send the verification mail again", response: { 200: State } } },
    async request => {
      const account = requireAccount(request);
      const link = await newLink(deps, account.id);
      if (link.state === "verified") {
        throw new Refusal("CONFLICT", { message: "This address is verified already." });
      }
      if (link.state === "too_soon") {
        throw new Refusal("RATE_LIMITED", {
          message: "A verification mail was sent a short while ago.",
          hint: `Look for it among unwanted mail too, or ask again in ${link.retryAfterSeconds} seconds.`,
          retryAfterSeconds: link.retryAfterSeconds,
        });
      }
      await deliverLink(deps, link);
      return getVerification(deps.db, account.id);
    },
  );

  app.post(
    "/api/verification/confirm",
    {
      config: { open: true },
      schema: {
        tags,
        summary: "Verify the address with the token of the mail",
        body: z.object({ token: Token }),
        response: { 200: Verified },
      },
    },
    async request => confirm(deps, request.body.token),
  );

  await app.register((pages: App, _options, done) => {
    registerPages(pages, deps, auth);
    done();
  });
}

/** Pages for a person who comes from a mail, with forms instead of JSON. Opening one changes nothing. */
function registerPages(pages: App, deps: Deps, auth: Auth): void {
  pages.addContentTypeParser<string>(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: 10_000 },
    (_request, text, done) => done(null, Object.fromEntries(new URLSearchParams(text))),
  );
  pages.setErrorHandler((error, request, reply) => {
    if (isJson(request)) return refuse(error, request, reply);
    const refusal = asRefusal(error);
    if (refusal.code === "INTERNAL") return refuse(error, request, reply);
    const { message, hint = "", issues = [] } = refusal;
    const sentences = [message, ...issues.map(issue => `${issue.path}: ${issue.message}`), hint];
    return sendPage(reply, notice("That did not work", sentences.filter(Boolean)), refusal.status);
  });
  const query = z.object({ token: z.string().max(200).default("") });
  const schema = { hide: true, querystring: query };

  pages.get("/verify-email", { schema }, async (request, reply) => {
    const { token } = request.query;
    const state = await findLinkState(deps.db, hashToken(token));
    if (state !== "open") throw linkRefusal(state);
    return sendPage(reply, confirmAddress(token));
  });

  pages.post(
    "/verify-email",
    { schema: { hide: true, body: z.object({ token: Token }) } },
    async (request, reply) => {
      const answer = await confirm(deps, request.body.token);
      if (isJson(request)) return answer;
      const done = ["Your API keys can send traces now.", "You can close this page."];
      return sendPage(reply, notice("Your address is verified", done));
    },
  );

  pages.get("/reset-password", { schema }, async (request, reply) =>
    sendPage(reply, choosePassword(request.query.token)),
  );

  const newPassword = z.string().min(passwordLengthMin).max(passwordLengthMax);
  pages.post(
    "/reset-password",
    { schema: { hide: true, body: z.object({ token: Token, newPassword }) } },
    async (request, reply) => {
      const answer = await forward(deps, auth, "/reset-password", request.body, request, reply);
      if (isJson(request)) return answer;
      const done = ["Every session was ended.", "Sign in with your new password."];
      return sendPage(reply, notice("Your password is changed", done));
    },
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
        message: "This link has been used already.",
        hint: "Your address is verified; there is nothing left to do.",
      });
    case "expired":
      return new Refusal("CONFLICT", {
        message: "This link has expired: it was valid for 24 hours.",
        hint: "Sign in and have the mail sent again.",
      });
    case "unknown":
      return new Refusal("NOT_FOUND", {
        message: "This link is not known.",
        hint: "Open the link of the mail as a whole, or sign in and have the mail sent again.",
      });
  }
}

function isJson(request: FastifyRequest): boolean {
  return request.headers["content-type"]?.toLowerCase().startsWith("application/json") ?? false;
}

function sendPage(reply: FastifyReply, html: string, status = 200): FastifyReply {
  return reply
    .code(status)
    .headers({ "content-security-policy": pagePolicy, "cache-control": "no-store" })
    .type("text/html; charset=utf-8")
    .send(html);
}
