// /api/auth/sign-in/email: opens a session, unless the password changed while it was being verified.

import { z } from "zod";
import { endSession, findStoredPassword } from "../../store/accounts/accounts.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import type { Forward } from "./forward.ts";
import { passwordChanged } from "./password-changed.ts";
import { Email, Password, SignedIn } from "./schemas.ts";

const Opened = SignedIn.extend({ token: z.string() });

export function registerSignIn(app: App, { db }: Deps, forward: Forward): void {
  const route = routesOf(app, "accounts");
  route("POST /api/auth/sign-in/email", {
    access: "open",
    summary: "Sign in",
    body: z.object({ email: Email, password: Password, rememberMe: z.boolean().optional() }),
    answer: SignedIn,
    handler: async ({ body, request, reply }) => {
      const { email } = body;
      const verified = await findStoredPassword(db, email);
      const answer = Opened.parse(await forward("/sign-in/email", { ...body }, request, reply));
      // A new password ends the sessions that exist when it is stored. This one may be younger: verifying takes 0.1 s and more.
      if ((await findStoredPassword(db, email)) === verified) return answer;
      await endSession(db, answer.token);
      reply.removeHeader("set-cookie");
      throw passwordChanged();
    },
  });
}
