// Root route, routes for signed-out users and email links, and the parent of all routes that need a session.
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
import { pageSession } from "../session.ts";
import { Shell } from "../shell/Shell.tsx";

type Context = { queries: QueryClient };

export const root = createRootRouteWithContext<Context>()({ component: Outlet });

// Signed-out users only. `next` is the URL to open after signing in.
const signedOut = createRoute({
  id: "guest",
  getParentRoute: () => root,
  validateSearch: nextOf,
  beforeLoad: async ({ context, search }) => {
    const session = await context.queries.ensureQueryData(sessionQuery);
    // While the user signs out, the page that is left still has its session.
    if (session && pageSession.state.kind === "active") throw redirect({ href: search.next ?? "/" });
  },
});
const signIn = createRoute({
  path: "/sign-in",
  getParentRoute: () => signedOut,
  component: lazyRouteComponent(() => import("../pages/accounts/SignInPage.tsx"), "SignInPage"),
});
const signUp = createRoute({
  path: "/sign-up",
  getParentRoute: () => signedOut,
  component: lazyRouteComponent(() => import("../pages/accounts/SignUpPage.tsx"), "SignUpPage"),
});
const forgotPassword = createRoute({
  path: "/forgot-password",
  getParentRoute: () => signedOut,
  component: lazyRouteComponent(
    () => import("../pages/accounts/ForgotPasswordPage.tsx"),
    "ForgotPasswordPage",
  ),
});

// Links in emails, which work with and without a session.
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

const alertsOff = createRoute({
  path: "/alerts/off",
  getParentRoute: () => root,
  validateSearch: textsOf("token"),
  component: lazyRouteComponent(() => import("../pages/accounts/AlertsOffPage.tsx"), "AlertsOffPage"),
});

// Signed-in users only; others are sent to the sign-in page, which returns here.
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

export const signedOutRoutes = signedOut.addChildren([signIn, signUp, forgotPassword]);
export const emailRoutes = [verifyEmail, resetPassword, alertsOff] as const;
