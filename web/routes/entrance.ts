// Who may come in: the addresses of those who are signed out, of links in mails, and what all the others stand under.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { sessionQuery } from "../queries/account.ts";
import { nextOf, ownPath, textsOf } from "../search.ts";
import { Shell } from "../shell/Shell.tsx";

type Context = { queries: QueryClient };

export const root = createRootRouteWithContext<Context>()({ component: Outlet });

// For whoever is signed out. `next` is where to go once signed in.
const guest = createRoute({
  id: "guest",
  getParentRoute: () => root,
  validateSearch: nextOf,
  beforeLoad: async ({ context, search }) => {
    if (await context.queries.ensureQueryData(sessionQuery)) throw redirect({ href: search.next ?? "/" });
  },
});
const signIn = createRoute({
  path: "/sign-in",
  getParentRoute: () => guest,
  component: lazyRouteComponent(() => import("../pages/accounts/SignInPage.tsx"), "SignInPage"),
});
const signUp = createRoute({
  path: "/sign-up",
  getParentRoute: () => guest,
  component: lazyRouteComponent(() => import("../pages/accounts/SignUpPage.tsx"), "SignUpPage"),
});
const forgotPassword = createRoute({
  path: "/forgot-password",
  getParentRoute: () => guest,
  component: lazyRouteComponent(
    () => import("../pages/accounts/ForgotPasswordPage.tsx"),
    "ForgotPasswordPage",
  ),
});

// Where the links of mails lead, signed in or not.
const verifyEmail = createRoute({
  path: "/verify-email",
  getParentRoute: () => root,
  validateSearch: textsOf("token"),
  component: lazyRouteComponent(() => import("../pages/accounts/VerifyEmailPage.tsx"), "VerifyEmailPage"),
});
const resetPassword = createRoute({
  path: "/reset-password",
  getParentRoute: () => root,
  validateSearch: textsOf("token"),
  component: lazyRouteComponent(() => import("../pages/accounts/ResetPasswordPage.tsx"), "ResetPasswordPage"),
});

// For whoever is signed in; others sign in first and come back.
export const member = createRoute({
  id: "member",
  getParentRoute: () => root,
  beforeLoad: async ({ context, location }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    if (session === null) throw redirect({ to: "/sign-in", search: { next: ownPath(location.href) } });
    return { session };
  },
  component: Shell,
});

export const guests = guest.addChildren([signIn, signUp, forgotPassword]);
export const fromMails = [verifyEmail, resetPassword] as const;
