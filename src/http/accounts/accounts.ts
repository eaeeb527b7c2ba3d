// /api/auth: accounts and sessions. Forwards to the accounts library and maps its errors to ours.

import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { findAccountByEmail } from "../../store/accounts/accounts.ts";
import type { App, Deps } from "../frame/deps.ts";
import { routesOf } from "../frame/route.ts";
import { Name } from "../frame/schemas.ts";
import { limitAttempts } from "./attempt-limits.ts";
import { type Auth, authOrigin, clientIpHeader } from "./auth.ts";
import type { Forward, SignUpDeps } from "./forward.ts";
import { callLibrary } from "./outages.ts";
import { registerPasswords } from "./password-changes.ts";
import { hashingFor } from "./passwords.ts";
import { CurrentSession, Done, Password, Session, Token } from "./schemas.ts";
import { registerSignIn } from "./sign-in.ts";
import { registerSignUp } from "./sign-up.ts";

type Forwarded = {
  method: "GET" | "POST";
  path: string;
  summary: string;
  access?: "open";
  body?: z.ZodType<Record<string, unknown>>;
  answer: z.ZodType;
};

const forwarded: Forwarded[] = [
  { method: "POST", path: "/sign-out", summary: "Sign out", answer: Done },
  {
    method: "GET",
    path: "/get-session",
    summary: "Get the current session; null if not signed in",
    access: "open",
    answer: CurrentSession,
  },
  {
    method: "GET",
    path: "/list-sessions",
    summary: "List sessions",
    answer: z.array(Session),
  },
  {
    method: "POST",
    path: "/revoke-session",
    summary: "End a session",
    body: z.object({ token: Token }),
    answer: Done,
  },
  { method: "POST", path: "/revoke-other-sessions", summary: "End all other sessions", answer: Done },
  {
    method: "POST",
    path: "/update-user",
    summary: "Change the name",
    body: z.object({ name: Name }),
    answer: Done,
  },
  {
    method: "POST",
    path: "/delete-user",
    summary: "Delete the account and everything in it",
    body: z.object({ password: Password }),
    answer: Done,
  },
];

export function registerAccounts(app: App, deps: Deps, auth: Auth, signUp: SignUpDeps): void {
  const forward = forwarder(deps, auth);
  const route = routesOf(app, "accounts");
  for (const { method, path, summary, access = "session", body, answer } of forwarded) {
    route(`${method} /api/auth${path}`, {
      access,
      summary,
      ...(body && { body }),
      answer,
      handler: ({ request, reply }) => forward(path, body && { ...(request.body as object) }, request, reply),
    });
  }
  registerSignIn(app, deps, forward);
  registerPasswords(app, deps, forward);
  registerSignUp(app, deps, signUp, forward);
}

/** Forwards requests to the library within their limits, passes its cookies on and throws its errors as refusals. */
function forwarder(deps: Deps, auth: Auth): Forward {
  return async (path, body, request, reply) => {
    const { clientIp: ip } = request;
    const attempt = async () => {
      const { cookie, "user-agent": userAgent } = request.headers;
      const headers = new Headers({ [clientIpHeader]: ip, "content-type": "application/json" });
      if (cookie !== undefined) headers.set("cookie", cookie);
      if (userAgent !== undefined) headers.set("user-agent", userAgent);
      const { method } = request;
      const asked = new Request(`${authOrigin}/api/auth${path}`, {
        method: method === "HEAD" ? "GET" : method,
        headers,
        ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
      });
      const answer = await callLibrary(
        () => hashingFor(ip, () => auth.handler(asked)),
        ({ ok }) => !ok,
      );
      const cookies = answer.headers.getSetCookie();
      if (cookies.length > 0) reply.header("set-cookie", cookies);
      if (answer.ok) return answer.json();
      throw await refusalOf(deps, answer, body);
    };
    const email = typeof body?.["email"] === "string" ? body["email"] : undefined;
    return limitAttempts(deps, `/auth${path}`, { ip, email, accountId: request.account?.id }, attempt);
  };
}

/** Maps an error response of the library to a Refusal, or to an Error if it is a bug. */
async function refusalOf(
  deps: Deps,
  answer: Response,
  body: Record<string, unknown> | undefined,
): Promise<Error> {
  const { status } = answer;
  const { code = "", message = "" } = (await answer.json()) as { code?: string; message?: string };
  const taken = new Refusal("CONFLICT", {
    message: "An account with this email already exists.",
    hint: "Sign in, or reset the password.",
  });
  if (code.startsWith("USER_ALREADY_EXISTS")) return taken;
  // Also the code for the slower of two concurrent sign-ups with the same email.
  if (code === "FAILED_TO_CREATE_USER" && (await findAccountByEmail(deps.db, String(body?.["email"]))))
    return taken;
  if (status === 401 || status === 403) return new Refusal("UNAUTHORIZED", { message });
  if (status < 500 && code !== "FAILED_TO_CREATE_USER") return new Refusal("VALIDATION_ERROR", { message });
  return new Error(`The accounts library answered ${status} ${code}: ${message}`);
}
