// /api/auth: sign-up, sign-in, passwords and sessions. Forwards to the accounts library and maps its errors to ours.
import type { FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { Refusal } from "../../model/refusal.ts";
import { findAccountByEmail } from "../../store/accounts/accounts.ts";
import { createFirstProject } from "../../store/accounts/projects.ts";
import type { Background } from "../background.ts";
import { clientReader } from "../client-ip.ts";
import type { App, Deps } from "../deps.ts";
import { Name } from "../schemas.ts";
import { limitAttempts } from "./attempt-limits.ts";
import { type Auth, authOrigin, clientIpHeader } from "./auth.ts";
import { callLibrary } from "./outages.ts";
import { registerPasswords } from "./password-changes.ts";
import { CurrentSession, Done, NewPassword, Password, Session, SignedIn, Token } from "./schemas.ts";
import { deliverLink, newLink } from "./verification-mail.ts";

const Email = z.email().max(254);

type Forwarded = {
  method: "GET" | "POST";
  path: string;
  summary: string;
  /** Needs no session. */
  open?: boolean;
  body?: z.ZodType<Record<string, unknown>>;
  answer: z.ZodType;
};

const forwarded: Forwarded[] = [
  {
    method: "POST",
    path: "/sign-in/email",
    summary: "Sign in",
    open: true,
    body: z.object({ email: Email, password: Password, rememberMe: z.boolean().optional() }),
    answer: SignedIn,
  },
  { method: "POST", path: "/sign-out", summary: "Sign out", answer: Done },
  {
    method: "GET",
    path: "/get-session",
    summary: "Get the current session; null if not signed in",
    open: true,
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
    path: "/request-password-reset",
    summary: "Send a password reset link; the answer is the same whether the email is known or not",
    open: true,
    body: z.object({ email: Email }),
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

export function registerAccounts(app: App, deps: Deps, auth: Auth, background: Background): void {
  const forward = forwarder(deps, auth);
  for (const { method, path, summary, open = false, body, answer } of forwarded) {
    app.route({
      method,
      url: `/api/auth${path}`,
      config: { open },
      schema: { tags: ["accounts"], summary, ...(body && { body }), response: { 200: answer } },
      handler: (request, reply) => forward(path, body && { ...(request.body as object) }, request, reply),
    });
  }
  registerPasswords(app, deps, forward);

  app.post(
    "/api/auth/sign-up/email",
    {
      config: { open: true },
      schema: {
        tags: ["accounts"],
        summary: "Create an account with a first project, sign in, and send the verification email",
        body: z.object({ email: Email, password: NewPassword, name: Name.optional() }),
        response: { 200: SignedIn },
      },
    },
    async (request, reply) => {
      const { email, password, name = email.slice(0, email.indexOf("@")) } = request.body;
      const answer = await forward("/sign-up/email", { email, password, name }, request, reply);
      const signedUp = SignedIn.parse(answer);
      await welcome(deps, background, signedUp.user.id).catch((error: unknown) =>
        // The account exists. Listing projects creates the first one, and the user can request the email again.
        request.log.error({ err: error }, "created an account, but not its project or verification email"),
      );
      return signedUp;
    },
  );
}

async function welcome(deps: Deps, background: Background, accountId: string): Promise<void> {
  await createFirstProject(deps.db, accountId);
  const link = await newLink(deps, accountId);
  if (link.state === "inserted") {
    background.start(() => deliverLink(deps, link), "failed to send a verification email");
  }
}

export type Forward = (
  path: string,
  body: Record<string, unknown> | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
) => Promise<unknown>;

/** Forwards requests to the library within their limits, passes its cookies on and throws its errors as refusals. */
function forwarder(deps: Deps, auth: Auth): Forward {
  const clientOf = clientReader(deps.config.trustedProxies ?? []);
  let warned = false;
  return async (path, body, request, reply) => {
    const client = clientOf(request.raw);
    if (client.shared && !warned) {
      warned = true;
      request.log.warn(
        { proxy: request.ip },
        "requests come through a proxy that SVC_TRUSTED_PROXIES does not name, so all clients have its IP address",
      );
    }
    const attempt = async () => {
      const { cookie, "user-agent": userAgent } = request.headers;
      const headers = new Headers({ [clientIpHeader]: client.ip, "content-type": "application/json" });
      if (cookie !== undefined) headers.set("cookie", cookie);
      if (userAgent !== undefined) headers.set("user-agent", userAgent);
      const { method } = request;
      const asked = new Request(`${authOrigin}/api/auth${path}`, {
        method: method === "HEAD" ? "GET" : method,
        headers,
        ...(method === "POST" && { body: JSON.stringify(body ?? {}) }),
      });
      const answer = await callLibrary(
        () => auth.handler(asked),
        ({ ok }) => !ok,
      );
      const cookies = answer.headers.getSetCookie();
      if (cookies.length > 0) reply.header("set-cookie", cookies);
      if (answer.ok) return answer.json();
      throw await refusalOf(deps, answer, body);
    };
    if (deps.limitAccounts === false) return attempt();
    const email = typeof body?.["email"] === "string" ? body["email"] : undefined;
    return limitAttempts(deps.db, path, { client, email, accountId: request.account?.id }, attempt);
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
