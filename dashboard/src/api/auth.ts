// Sign-up, sign-in, and what a person changes about themselves: the endpoints of better-auth, which
// this server has at /console/auth.

import { get, post } from "./client.ts";

const AUTH = "/console/auth";
const PAGES = "/dashboard";

/** What an answer to a sign-in says. */
interface SignInReply {
  /** True if a code of the second factor is needed now. */
  readonly twoFactorRedirect?: boolean;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export async function signIn({ email, password }: Credentials): Promise<SignInReply> {
  return await post<SignInReply>(`${AUTH}/sign-in/email`, { email, password });
}

/** What an answer to a sign-up says; `mail_sink` says where the mail is in development. */
export interface SignUpReply {
  readonly mail_sink?: string;
}

export async function signUp(given: Credentials & { name: string }): Promise<SignUpReply> {
  return await post<SignUpReply>(`${AUTH}/sign-up/email`, given);
}

export async function signOut(): Promise<void> {
  await post(`${AUTH}/sign-out`);
}

/** Verifies an inbox by the token of a mail; signs in. */
export async function verifyEmail(token: string): Promise<void> {
  await get(`${AUTH}/verify-email`, { token });
}

export async function sendVerification(email: string): Promise<void> {
  await post(`${AUTH}/send-verification-email`, { email, callbackURL: PAGES });
}

export async function sendCode(email: string): Promise<void> {
  await post(`${AUTH}/email-otp/send-verification-otp`, { email, type: "sign-in" });
}

export async function signInByCode(email: string, otp: string): Promise<SignInReply> {
  return await post<SignInReply>(`${AUTH}/sign-in/email-otp`, { email, otp });
}

export async function askForReset(email: string): Promise<void> {
  await post(`${AUTH}/request-password-reset`, { email, redirectTo: `${PAGES}/reset` });
}

export async function resetPassword(token: string, newPassword: string): Promise<void> {
  await post(`${AUTH}/reset-password`, { token, newPassword });
}

export async function verifyTotp(code: string): Promise<void> {
  await post(`${AUTH}/two-factor/verify-totp`, { code });
}

export async function verifyBackupCode(code: string): Promise<void> {
  await post(`${AUTH}/two-factor/verify-backup-code`, { code });
}

export interface NewTwoFactor {
  readonly totpURI: string;
  readonly backupCodes: readonly string[];
}

/** Begins to turn two-factor on; it is on once a code was verified. */
export async function beginTwoFactor(password: string): Promise<NewTwoFactor> {
  return await post<NewTwoFactor>(`${AUTH}/two-factor/enable`, { password });
}

export async function endTwoFactor(password: string): Promise<void> {
  await post(`${AUTH}/two-factor/disable`, { password });
}

export async function changePassword(currentPassword: string, newPassword: string): Promise<void> {
  const rest = { revokeOtherSessions: true };
  await post(`${AUTH}/change-password`, { currentPassword, newPassword, ...rest });
}

export async function changeName(name: string): Promise<void> {
  await post(`${AUTH}/update-user`, { name });
}

export interface Session {
  readonly id: string;
  readonly token: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly userAgent: string | null;
}

export async function listSessions(): Promise<readonly Session[]> {
  return await get<readonly Session[]>(`${AUTH}/list-sessions`);
}

/** The session of this browser. */
export async function ownSession(): Promise<{ readonly session: Session } | null> {
  return await get<{ readonly session: Session } | null>(`${AUTH}/get-session`);
}

export async function endSession(token: string): Promise<void> {
  await post(`${AUTH}/revoke-session`, { token });
}

export async function endOtherSessions(): Promise<void> {
  await post(`${AUTH}/revoke-other-sessions`);
}

/** Signs in by a one-time link. */
export async function redeemLink(token: string): Promise<void> {
  await post(`${AUTH}/one-time-link`, { token });
}
