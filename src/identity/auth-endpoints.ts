// The paths below /console/auth. Each names the path of better-auth that it opens, the fields that
// pass, and how often it may be tried; nothing else of better-auth can be reached.

import { OK } from "../core/errors.ts";
import {
  type ConsoleEndpoint,
  type ConsoleFrameDeps,
  type VisitorContext,
  visitorEndpoint,
} from "../http/console-endpoint.ts";
import { jsonBody } from "../http/json-body.ts";
import { shortText, type TProperties, Type, text } from "../http/schema.ts";
import { type AttemptKind, countAttempt } from "./attempt-limits.ts";
import { AUTH_PATH, CODE_LENGTH, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from "./auth.ts";
import { deviceOf } from "./device-cookie.ts";
import { emailOf } from "./email-field.ts";
import { DEVICE_HEADER, type Identity, IP_HEADER } from "./identity.ts";
import { PASSKEY_BEGIN_PATH, PASSKEY_PATH } from "./passkey-plugin.ts";
import { SignInResponse } from "./passkey-schema.ts";
import { ORIGIN_HEADER } from "./passkeys.ts";
import { LINK_PATH, SIGN_UP_PATH, VERIFY_PATH } from "./sign-up-plugin.ts";

export interface IdentityDeps extends ConsoleFrameDeps {
  readonly identity: Identity;
}

interface AuthPath {
  readonly id: string;
  readonly path: string;
  /** The path of better-auth, if it has another name. */
  readonly opens?: string;
  readonly summary: string;
  readonly fields: TProperties;
  readonly attempt: AttemptKind | null;
  /** Fields that better-auth is given besides. */
  readonly adds?: Readonly<Record<string, unknown>>;
  /** True if an answer at once would show whether the inbox is known. */
  readonly takesItsTime?: true;
}

type Fields = Readonly<Record<string, unknown>>;

const BODY_BYTES_MAX = 8 * 1_024;
/** Longer than a password hash and a write take, so that their time is not seen. */
const ANSWER_MS_MIN = 400;

const emailField = text({ maxLength: 254, description: "An e-mail address" });
const name = text({ maxLength: 64, description: "What to call the person" });
const token = shortText(128, { description: "From the mailed link" });
const code = shortText(16, { description: "From the mail or the app" });
const oldPassword = shortText(PASSWORD_LENGTH_MAX, { description: "The password" });
const newPassword = text({
  minLength: PASSWORD_LENGTH_MIN,
  maxLength: PASSWORD_LENGTH_MAX,
  description: "A new password",
  must: `must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
});
const sixDigits = text({ pattern: `^\\d{${CODE_LENGTH}}$`, must: "must be six digits" });
const trustDevice = Type.Optional(Type.Boolean());

const PATHS: readonly AuthPath[] = [
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
  },
  {
    id: "disableSecondFactor",
    path: "/two-factor/disable",
    summary: "Turn the second factor off",
    fields: { password: oldPassword },
    attempt: "password",
  },
  {
    id: "renewBackupCodes",
    path: "/two-factor/generate-backup-codes",
    summary: "Replace the backup codes",
    fields: { password: oldPassword },
    attempt: "password",
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
  },
  {
    id: "signOut",
    path: "/sign-out",
    summary: "End this session",
    fields: {},
    attempt: null,
  },
];

/** The endpoints of signing up, signing in and out. */
export const AUTH_ENDPOINTS: readonly ConsoleEndpoint<IdentityDeps>[] = PATHS.map(authEndpoint);

function authEndpoint(path: AuthPath): ConsoleEndpoint<IdentityDeps> {
  const schema = Type.Object(path.fields, { additionalProperties: true });
  return visitorEndpoint({
    id: path.id,
    method: "POST",
    path: `${AUTH_PATH}${path.path}`,
    summary: path.summary,
    body: jsonBody(schema, { bytesMax: BODY_BYTES_MAX }),
    reply: Type.Object({}, { additionalProperties: true }),
    examples: [],
    run: async (context: VisitorContext<IdentityDeps>, input) => {
      const answer = forward(context, path, input as Fields);
      return path.takesItsTime ? await atLeast(context.deps, answer) : await answer;
    },
  });
}

async function forward(
  { deps, request, clientIp }: VisitorContext<IdentityDeps>,
  path: AuthPath,
  input: Fields,
): Promise<Response> {
  const { identity } = deps;
  // Only known fields pass: what better-auth could do with others, such as a redirect, is off.
  const known = Object.keys(path.fields).filter((field) => Object.hasOwn(input, field));
  const email = "email" in input ? emailOf(input.email) : null;
  const fields = {
    ...Object.fromEntries(known.map((field) => [field, input[field]])),
    ...(email !== null && { email }),
  };
  const who = { clientIp, email };
  if (path.attempt !== null) await countAttempt(identity, path.attempt, who);
  const device = deviceOf(request.headers, identity.origin, deps.random);
  const headers = new Headers({
    "content-type": "application/json",
    // The frame has checked that the request comes from a page of ours.
    origin: identity.origin,
    cookie: request.headers.get("cookie") ?? "",
    "user-agent": request.headers.get("user-agent")?.slice(0, 512) ?? "",
    [ORIGIN_HEADER]: request.headers.get("origin") ?? "",
    [IP_HEADER]: clientIp,
    [DEVICE_HEADER]: device.id,
  });
  const inner = new Request(`${identity.origin}${AUTH_PATH}${path.opens ?? path.path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ ...fields, ...path.adds }),
  });
  const { result, proof } = await identity.mails.watch(() => identity.auth.handler(inner));
  const answer = await ours(result, identity.showsMails ? proof : null);
  if (device.cookie !== null) answer.headers.append("set-cookie", device.cookie);
  return answer;
}

/** The answer of better-auth in the form of the console's, without tokens. */
async function ours(response: Response, proof: object | null): Promise<Response> {
  const body = (await response.json().catch(() => null)) as Fields | null;
  const { status } = response;
  const isFine = status === OK;
  const { token: _, session: __, code: errorCode, message, ...fields } = body ?? {};
  const answer = isFine
    ? Response.json({ ...fields, ...(proof !== null && { development: proof }) })
    : Response.json(
        {
          error: {
            code: String(errorCode ?? "not_possible").toLowerCase(),
            message: String(message ?? "This is not possible"),
          },
        },
        { status },
      );
  for (const cookie of response.headers.getSetCookie()) answer.headers.append("set-cookie", cookie);
  return answer;
}

async function atLeast<T>({ clock }: IdentityDeps, work: Promise<T>): Promise<T> {
  const time = Promise.withResolvers<void>();
  clock.after(ANSWER_MS_MIN, time.resolve);
  const [done] = await Promise.allSettled([work, time.promise]);
  if (done.status === "rejected") throw done.reason;
  return done.value;
}
