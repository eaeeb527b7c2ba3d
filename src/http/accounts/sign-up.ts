// /api/auth/sign-up/email: creates an account with a first project, and sends the verification email. If emails are sent,
// the answer does not tell whether the email is taken: its owner gets an email instead.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { signUpNoticeMail } from "../../remote/mail/mails.ts";
import { findAccountByEmail } from "../../store/accounts/accounts.ts";
import { createFirstProject } from "../../store/accounts/projects.ts";
import type { Background } from "../frame/background.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { Name } from "../frame/schemas.ts";
import { mailAccount } from "./account-mail.ts";
import { mayNotify } from "./attempt-limits.ts";
import type { Forward, SignUpDeps } from "./forward.ts";
import { Email, NewPassword, SignedUp } from "./schemas.ts";
import { deliverLink, linkOf, newLink } from "./verification-mail.ts";

export function registerSignUp(
  app: App,
  deps: Deps,
  { background, localLinks }: SignUpDeps,
  forward: Forward,
): void {
  const route = routesOf(app, "accounts");
  const { db, config } = deps;

  async function welcome(accountId: string): Promise<void> {
    await createFirstProject(db, accountId);
    const link = await newLink(deps, accountId);
    if (link.state === "inserted") {
      await localLinks.keep(accountId, linkOf(deps, link));
      background.start(() => deliverLink(deps, link), "failed to send a verification email");
    }
  }
  // Listing projects creates the first one, and the user can request the email again.
  const failure = "created an account, but not its project or verification email";

  route("POST /api/auth/sign-up/email", {
    access: "open",
    summary: "Create an account with a first project, and send the verification email",
    description:
      "Without a mail server, also signs in, and answers 409 if the email is taken. With one, the answer is the same whether it is taken or not: sign in next.",
    body: z.object({ email: Email, password: NewPassword, name: Name.optional() }),
    answer: SignedUp,
    handler: async ({ body, request, reply }) => {
      const { email, password, name = email.slice(0, email.indexOf("@")) } = body;
      const signUp = async () =>
        SignedUp.parse(await forward("/sign-up/email", { email, password, name }, request, reply));
      if (!config.smtpUrl) {
        const signedUp = await signUp();
        await welcome(signedUp.user!.id).catch((error: unknown) =>
          request.log.error({ err: error }, failure),
        );
        return signedUp;
      }
      const answer = await signUp().catch(ifTaken);
      // The library's answer for a taken email has an id of no account.
      background.start(async () => {
        const account = await findAccountByEmail(db, email);
        if (account && account.id === answer?.user?.id) await welcome(account.id);
      }, failure);
      return { user: null };
    },
  });
}

/** The slower of two concurrent sign-ups with the same email is answered like the other. */
function ifTaken(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== "CONFLICT") throw error;
}

/** Tells the owner of a taken email that somebody signed up with it, at a limited rate. */
export function notifyOwner(deps: Deps, background: Background, email: string): void {
  background.start(async () => {
    if (!(await mayNotify(deps, email))) return;
    await mailAccount(deps, signUpNoticeMail({ to: email, baseUrl: deps.config.baseUrl }));
  }, "failed to send an email about a sign-up with a taken email");
}
