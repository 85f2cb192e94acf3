// Lists the paths below /console/auth. Each names the path of better-auth that it opens, the fields
// that pass, and how often it may be tried; nothing else of better-auth can be reached.

import { FORM_FIELDS } from "../core/text/form-fields.ts";
import { nameText, shortText, type TProperties, Type, text } from "../http/schema.ts";
import type { AttemptKind } from "./attempt-limits.ts";
import {
  LINK_PATH,
  PASSKEY_BEGIN_PATH,
  PASSKEY_PATH,
  SIGN_UP_PATH,
  SSO_BEGIN_PATH,
  SSO_PATH,
  VERIFY_PATH,
} from "./auth-terms.ts";
import type { SignInChange } from "./identity.ts";
import type { Notice } from "./identity-mails.ts";
import { SignInResponse } from "./passkey-schema.ts";

export interface AuthPath {
  readonly id: string;
  readonly path: string;
  /** The path of better-auth, if its name differs. */
  readonly opens?: string;
  readonly summary: string;
  readonly fields: TProperties;
  readonly attempt: AttemptKind | null;
  /** Further fields that better-auth gets. */
  readonly adds?: Readonly<Record<string, unknown>>;
  /** True if `code` is a code of an app, which a person may enter once. */
  readonly takesAppCode?: true;
  /** The part of signing in that the path changes, for a person who is signed in. */
  readonly changes?: SignInChange;
  /** The change in words, for the mail and the operators' trail. */
  readonly changed?: Notice;
  /** True if the person gets a mail about the change. */
  readonly isMailed?: true;
  /** True if an immediate answer would reveal that the inbox is known. */
  readonly takesItsTime?: true;
}

const emailField = text({
  maxLength: FORM_FIELDS.email.charactersMax,
  description: "An e-mail address",
});
const name = nameText(FORM_FIELDS.name.charactersMax, {
  minLength: 0,
  description: "What to call the person",
});
const token = shortText(128, { description: "From the mailed link" });
const code = shortText(FORM_FIELDS.backupCode.charactersMax, {
  description: "From the mail or the app",
});
const oldPassword = shortText(FORM_FIELDS.password.charactersMax, { description: "The password" });
const { charactersMin, charactersMax } = FORM_FIELDS.newPassword;
const newPassword = text({
  minLength: charactersMin,
  maxLength: charactersMax,
  description: "A new password",
  must: `must have ${charactersMin} to ${charactersMax} characters`,
});
const sixDigits = text({
  pattern: `^\\d{${FORM_FIELDS.code.charactersMax}}$`,
  must: "must be six digits",
});
const operatorPage = text({
  maxLength: 1_024,
  // No part of the path is `.` or `..`, because those would lead out of /operator.
  pattern: "^/operator(?:/(?!(?:\\.|%2[eE]){1,2}(?:[/?]|$))[^\\s\\\\#?/]*)*(?:\\?[^\\s\\\\#]*)?$",
  must: "must be a page below /operator",
  description: "The page of operators to go on to",
});
const ssoQuery = shortText(4_096, {
  description: "The query that the provider sent the browser back with",
});
const trustDevice = Type.Optional(Type.Boolean());

export const AUTH_PATHS: readonly AuthPath[] = [
  {
    id: "signUp",
    path: "/sign-up/email",
    opens: SIGN_UP_PATH,
    summary: "Ask for an account; a link is mailed",
    fields: { name, email: emailField, password: newPassword },
    attempt: "sign_up",
    takesItsTime: true,
  },
  {
    id: "verifySignUp",
    path: "/sign-up/verify",
    opens: VERIFY_PATH,
    summary: "Confirm the address of a sign-up, which opens the account and signs in",
    fields: { token },
    attempt: "open_link",
  },
  {
    id: "signIn",
    path: "/sign-in/email",
    summary: "Sign in with a password",
    fields: { email: emailField, password: oldPassword, rememberMe: Type.Optional(Type.Boolean()) },
    attempt: "password",
  },
  {
    id: "signInByLink",
    path: "/sign-in/link",
    opens: LINK_PATH,
    summary: "Sign in with a one-time link",
    fields: { token },
    attempt: "open_link",
  },
  {
    id: "beginPasskeySignIn",
    path: "/sign-in/passkey/begin",
    opens: PASSKEY_BEGIN_PATH,
    summary: "Get what a device must sign to sign in with a passkey",
    fields: {},
    attempt: "use_passkey",
  },
  {
    id: "signInByPasskey",
    path: "/sign-in/passkey",
    opens: PASSKEY_PATH,
    summary: "Sign in with a passkey, which is a second factor by itself",
    fields: { response: SignInResponse },
    attempt: "use_passkey",
  },
  {
    id: "beginSso",
    path: "/sign-in/sso/begin",
    opens: SSO_BEGIN_PATH,
    summary: "Get the page of the provider where an operator signs in",
    fields: { return_to: operatorPage },
    attempt: "use_sso",
  },
  {
    id: "signInBySso",
    path: "/sign-in/sso",
    opens: SSO_PATH,
    summary: "Sign an operator in who comes back from the provider",
    fields: { query: ssoQuery },
    attempt: "use_sso",
  },
  {
    id: "sendCode",
    path: "/email-otp/send-verification-otp",
    summary: "Mail a one-time code, to sign in or sign up with",
    fields: { email: emailField },
    adds: { type: "sign-in" },
    attempt: "send_code",
    takesItsTime: true,
  },
  {
    id: "signInByCode",
    path: "/sign-in/email-otp",
    summary: "Sign in or sign up with a mailed code",
    fields: { email: emailField, otp: sixDigits, name: Type.Optional(name) },
    attempt: "enter_code",
  },
  {
    id: "enterSecondFactor",
    path: "/two-factor/verify-totp",
    summary: "Enter the code of the app, to sign in or to confirm the app",
    fields: { code: sixDigits, trustDevice },
    attempt: "enter_second_factor",
    takesAppCode: true,
    changes: "factor or address",
    changed: ({ factorOn }) => factorOn,
  },
  {
    id: "enterBackupCode",
    path: "/two-factor/verify-backup-code",
    summary: "Enter a backup code in place of the code of the app",
    fields: { code, trustDevice },
    attempt: "enter_second_factor",
  },
  {
    id: "enableSecondFactor",
    path: "/two-factor/enable",
    summary: "Get the address of a new app and backup codes; a first code turns it on",
    fields: { password: oldPassword },
    attempt: "password",
    changes: "factor or address",
  },
  {
    id: "disableSecondFactor",
    path: "/two-factor/disable",
    summary: "Turn the second factor off",
    fields: { password: oldPassword },
    attempt: "password",
    changes: "factor or address",
    changed: ({ factorOff }) => factorOff,
    isMailed: true,
  },
  {
    id: "renewBackupCodes",
    path: "/two-factor/generate-backup-codes",
    summary: "Replace the backup codes",
    fields: { password: oldPassword },
    attempt: "password",
    changes: "factor or address",
    changed: ({ codesReplaced }) => codesReplaced,
    isMailed: true,
  },
  {
    id: "requestPasswordReset",
    path: "/request-password-reset",
    summary: "Mail a link to set a new password",
    fields: { email: emailField },
    attempt: "send_reset",
    takesItsTime: true,
  },
  {
    id: "resetPassword",
    path: "/reset-password",
    summary: "Set a new password with a mailed link; all sessions end",
    fields: { token, newPassword },
    attempt: "open_link",
  },
  {
    id: "changePassword",
    path: "/change-password",
    summary: "Change the password; other sessions end",
    fields: { currentPassword: oldPassword, newPassword },
    adds: { revokeOtherSessions: true },
    attempt: "password",
    changes: "password",
    changed: ({ passwordChanged }) => passwordChanged,
  },
  {
    id: "signOut",
    path: "/sign-out",
    summary: "End this session",
    fields: {},
    attempt: null,
  },
];
