// Sign-up, sign-in, and the changes of a person's own settings: the endpoints of better-auth, which
// this server has at /console/auth.

import { post } from "./client.ts";

const AUTH = "/console/auth";

/** The answer to a sign-in. */
export interface SignInReply {
  /** True if a code of the second factor is needed now. */
  readonly twoFactorRedirect?: boolean;
  /** The second factors that the person has: "totp" for an app, "passkey". */
  readonly twoFactorMethods?: readonly string[];
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export async function signIn({ email, password }: Credentials): Promise<SignInReply> {
  return await post<SignInReply>(`${AUTH}/sign-in/email`, { email, password });
}

/** The mailed link or code; only in development, which delivers no mail. */
export interface MailedReply {
  readonly development?: { readonly link?: string; readonly code?: string };
}

export async function signUp(given: Credentials & { name: string }): Promise<MailedReply> {
  return await post<MailedReply>(`${AUTH}/sign-up/email`, given);
}

export async function signOut(): Promise<void> {
  await post(`${AUTH}/sign-out`);
}

/** The outcome of a sign-up whose inbox is verified. */
export interface VerifiedSignUp {
  /** False if the address had an account already. */
  readonly signed_in: boolean;
  /**
   * False if the link was opened in another browser: then the password of the sign-up does not
   * count.
   */
  readonly has_password?: boolean;
}

/** Verifies an inbox by the token of a mail. */
export async function verifySignUp(token: string): Promise<VerifiedSignUp> {
  return await post<VerifiedSignUp>(`${AUTH}/sign-up/verify`, { token });
}

/** Sends a code to sign in with, or to sign up with where the inbox is new. */
export async function sendCode(email: string): Promise<MailedReply> {
  return await post<MailedReply>(`${AUTH}/email-otp/send-verification-otp`, { email });
}

export async function signInByCode(email: string, otp: string): Promise<SignInReply> {
  return await post<SignInReply>(`${AUTH}/sign-in/email-otp`, { email, otp });
}

export async function askForReset(email: string): Promise<MailedReply> {
  return await post<MailedReply>(`${AUTH}/request-password-reset`, { email });
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
  await post(`${AUTH}/change-password`, { currentPassword, newPassword });
}

/** Signs in by a one-time link. */
export async function redeemLink(token: string): Promise<SignInReply> {
  return await post<SignInReply>(`${AUTH}/sign-in/link`, { token });
}
