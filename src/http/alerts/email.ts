// Alerts by email: the account's switch, and the link in each email that turns them off.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { getVerification } from "../../store/accounts/accounts.ts";
import { accountOfToken, setAlerts, wantsAlerts } from "../../store/alerts/opt-outs.ts";
import type { App, Deps } from "../deps.ts";
import { requireAccount } from "../signed-in.ts";
import { EmailAlerts, TurnedOff } from "./schemas.ts";

const Token = z.string().min(1).max(500);

export function registerEmailAlerts(app: App, deps: Deps): void {
  const { db } = deps;
  const tags = ["alerts"];

  app.get(
    "/api/email-alerts",
    { schema: { tags, summary: "Get whether alerts are emailed", response: { 200: EmailAlerts } } },
    async request => settingsOf(deps, requireAccount(request).id),
  );

  app.put(
    "/api/email-alerts",
    {
      schema: {
        tags,
        summary: "Turn alerts by email on or off",
        body: z.strictObject({ on: z.boolean() }),
        response: { 200: EmailAlerts },
      },
    },
    async request => {
      const { id } = requireAccount(request);
      await setAlerts(db, id, request.body.on);
      return settingsOf(deps, id);
    },
  );

  app.register((scope, _options, done) => {
    // Mail programs post a form from their own servers (RFC 8058): no session, any origin, any body, which says nothing.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, parsed) =>
      parsed(null, undefined),
    );
    (scope as App).post(
      "/alerts/off",
      {
        config: { open: true },
        schema: {
          tags,
          summary:
            "Turn off the email alerts of the token's account, as the link in an email does; GET shows a page and changes nothing",
          querystring: z.object({ token: Token }),
          response: { 200: TurnedOff },
        },
      },
      async ({ query: { token } }) => {
        const accountId = await accountOfToken(db, token);
        if (accountId === undefined) {
          throw new Refusal("NOT_FOUND", {
            message: "Unknown link.",
            hint: "Open the full link from the email, or turn alerts off in Settings.",
          });
        }
        await setAlerts(db, accountId, false);
        return { on: false as const };
      },
    );
    done();
  });
}

async function settingsOf({ db, config }: Deps, accountId: string): Promise<EmailAlerts> {
  const { email, verified } = await getVerification(db, accountId);
  return { on: await wantsAlerts(db, accountId), email, verified, mailServer: Boolean(config.smtpUrl) };
}
