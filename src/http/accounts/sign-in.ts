// /api/auth/sign-in/email: opens a session, unless the password changed while it was being verified.

import { z } from "zod";
import { endSession, findStoredPassword } from "../../store/accounts/accounts.ts";
import type { App, Deps } from "../deps.ts";
import type { Forward } from "./forward.ts";
import { passwordChanged } from "./password-changed.ts";
import { Email, Password, SignedIn } from "./schemas.ts";

const Opened = SignedIn.extend({ token: z.string() });

export function registerSignIn(app: App, { db }: Deps, forward: Forward): void {
  app.post(
    "/api/auth/sign-in/email",
    {
      config: { open: true },
      schema: {
        tags: ["accounts"],
        summary: "Sign in",
        body: z.object({ email: Email, password: Password, rememberMe: z.boolean().optional() }),
        response: { 200: SignedIn },
      },
    },
    async (request, reply) => {
      const { email } = request.body;
      const verified = await findStoredPassword(db, email);
      const answer = Opened.parse(await forward("/sign-in/email", { ...request.body }, request, reply));
      // A new password ends the sessions that exist when it is stored. This one may be younger: verifying takes 0.1 s and more.
      if ((await findStoredPassword(db, email)) === verified) return answer;
      await endSession(db, answer.token);
      reply.removeHeader("set-cookie");
      throw passwordChanged();
    },
  );
}
