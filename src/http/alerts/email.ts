// Alerts by email: the account's switch, and the link in each email that turns them off.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { getVerification } from "../../store/accounts/accounts.ts";
import { accountOfToken, setAlerts, wantsAlerts } from "../../store/alerts/opt-outs.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { EmailAlerts, TurnedOff } from "./schemas.ts";

const Token = z.string().min(1).max(500);

export function registerEmailAlerts(app: App, deps: Deps): void {
  const route = routesOf(app, "alerts");
  const { db } = deps;

  route("GET /api/email-alerts", {
    access: "tokens",
    summary: "Get whether alerts are emailed",
    answer: EmailAlerts,
    handler: async ({ account }) => settingsOf(deps, account.id),
  });

  route("PUT /api/email-alerts", {
    access: "session",
    summary: "Turn alerts by email on or off",
    body: z.strictObject({ on: z.boolean() }),
    answer: EmailAlerts,
    handler: async ({ body, account }) => {
      await setAlerts(db, account.id, body.on);
      return settingsOf(deps, account.id);
    },
  });

  app.register((scope, _options, done) => {
    // Mail programs post a form from their own servers (RFC 8058): no session, any origin, any body, which says nothing.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, _body, parsed) =>
      parsed(null, undefined),
    );
    routesOf(scope as App, "alerts")("POST /alerts/off", {
      access: "open",
      summary:
        "Turn off the email alerts of the token's account, as the link in an email does; GET shows a page and changes nothing",
      query: z.object({ token: Token }),
      answer: TurnedOff,
      handler: async ({ query: { token } }) => {
        const accountId = await accountOfToken(db, token);
        if (accountId === undefined) {
          throw new Refusal("NOT_FOUND", {
            message: "Unknown link.",
            hint: "Open the full link from the email, or turn alerts off in Settings.",
          });
        }
        await setAlerts(db, accountId, false);
        return { on: false } as const;
      },
    });
    done();
  });
}

async function settingsOf({ db, config }: Deps, accountId: string): Promise<EmailAlerts> {
  const { email, verified } = await getVerification(db, accountId);
  return { on: await wantsAlerts(db, accountId), email, verified, mailServer: Boolean(config.smtpUrl) };
}
