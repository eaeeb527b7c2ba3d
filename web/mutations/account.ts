// Changes to the account: signing in and up, the password, sessions, verification of the email.
import type {
  PasswordChanged,
  PasswordReset,
  ResetRequested,
  SignedIn,
  SignedUp,
  Verification,
  VerificationLink,
} from "../../src/http/accounts/schemas.ts";
import { type Answer, ask } from "../api.ts";

export const signIn = (body: { email: string; password: string }) =>
  ask<SignedIn>("POST", "/api/auth/sign-in/email", { body });

type NewAccount = { email: string; password: string; name?: string };

/**
 * Creates an account and signs in. With a mail server, the answer does not tell whether the email was taken by another
 * account; then `signedIn` is false unless the password is that account's.
 */
export async function signUp(body: NewAccount): Promise<Answer<{ signedIn: boolean }>> {
  const answer: Answer<SignedUp> = await ask("POST", "/api/auth/sign-up/email", { body });
  if (!answer.ok) return answer;
  const { email, password } = body;
  const signedIn = answer.value.user !== null || (await signIn({ email, password })).ok;
  return { ok: true, value: { signedIn } };
}

export const signOut = () => ask("POST", "/api/auth/sign-out");

export const requestPasswordReset = (email: string): Promise<Answer<ResetRequested>> =>
  ask("POST", "/api/auth/request-password-reset", { body: { email } });

type NewPassword = { newPassword: string; revokeAccessTokens: boolean };

export const resetPassword = (
  body: NewPassword & { token: string | undefined },
): Promise<Answer<PasswordReset>> => ask("POST", "/api/auth/reset-password", { body });

export const changePassword = (
  body: NewPassword & { currentPassword: string },
): Promise<Answer<PasswordChanged>> => ask("POST", "/api/auth/change-password", { body });

export const renameAccount = (name: string) => ask("POST", "/api/auth/update-user", { body: { name } });

export const deleteAccount = (password: string) =>
  ask("POST", "/api/auth/delete-user", { body: { password } });

export const endSession = (token: string) => ask("POST", "/api/auth/revoke-session", { body: { token } });

export const endOtherSessions = () => ask("POST", "/api/auth/revoke-other-sessions");

export const resendVerification = (): Promise<Answer<Verification>> =>
  ask("POST", "/api/verification/resend");

export const confirmVerification = (token: string) =>
  ask("POST", "/api/verification/confirm", { body: { token } });

/** The state of the link, which stays as it is. */
export const checkVerificationLink = (
  token: string,
  signal: AbortSignal,
): Promise<Answer<VerificationLink>> => ask("POST", "/api/verification/link", { body: { token }, signal });
