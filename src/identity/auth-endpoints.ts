// Serves the endpoints below /console/auth: each hands the fields that may pass to better-auth.

import { wait } from "../core/clock.ts";
import {
  CONSOLE_ERRORS,
  type ConsoleErrorCode,
  isConsoleErrorCode,
} from "../core/console-errors.ts";
import { ERRORS, OK } from "../core/errors.ts";
import { englishMails } from "../core/mails/english.ts";
import { jsonBody } from "../http/body/json-body.ts";
import {
  type ConsoleEndpoint,
  type ConsoleFrameDeps,
  type VisitorContext,
  visitorEndpoint,
} from "../http/console/console-endpoint.ts";
import type { SignedIn } from "../http/console/people.ts";
import { addRetryHeaders } from "../http/respond.ts";
import { Type } from "../http/schema.ts";
import { atLeast } from "./answer-time.ts";
import { countAttempt, takeCode } from "./attempt-limits.ts";
import { AUTH_PATHS, type AuthPath } from "./auth-paths.ts";
import { AUTH_PATH, DEVICE_HEADER, IP_HEADER, LOCAL_HEADER, LOCKED_SECONDS } from "./auth-terms.ts";
import { deviceOf } from "./device-cookie.ts";
import { emailOf } from "./email-field.ts";
import type { Identity } from "./identity.ts";
import { ORIGIN_HEADER } from "./passkeys.ts";
import type { FactorHolder } from "./second-factor-plugin.ts";

export interface IdentityDeps extends ConsoleFrameDeps {
  readonly identity: Identity;
}

type Fields = Readonly<Record<string, unknown>>;

const BODY_BYTES_MAX = 8 * 1_024;

interface Refusal {
  readonly code: ConsoleErrorCode;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

/**
 * Replaces better-auth's refusals after too many wrong codes: each names the code that has ended
 * and the remedy (D-503).
 */
const AFTER_WRONG_CODES: Readonly<Record<string, Refusal>> = {
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: {
    code: "invalid_two_factor_cookie",
    message: "There were too many wrong codes. Sign in again",
  },
  ACCOUNT_TEMPORARILY_LOCKED: {
    code: "too_many_attempts",
    message: `There were too many wrong codes. Try again in ${LOCKED_SECONDS / 60} minutes`,
    retryAfterSeconds: LOCKED_SECONDS,
  },
};

const showSso = visitorEndpoint({
  id: "showSso",
  method: "GET",
  path: `${AUTH_PATH}/sign-in/sso`,
  summary: "Show whether operators can sign in through a provider of single sign-on",
  reply: Type.Object({ is_offered: Type.Boolean() }),
  examples: [{ summary: "They can", reply: { is_offered: true } }],
  run: ({ deps }: VisitorContext<IdentityDeps>) =>
    Promise.resolve({ is_offered: deps.identity.sso !== null }),
});

/** The endpoints of signing up, signing in and out. */
export const AUTH_ENDPOINTS: readonly ConsoleEndpoint<IdentityDeps>[] = [
  ...AUTH_PATHS.map(authEndpoint),
  showSso,
];

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
  visitor: VisitorContext<IdentityDeps>,
  path: AuthPath,
  input: Fields,
): Promise<Response> {
  const { deps, request, clientIp, isLocal } = visitor;
  const { identity } = deps;
  // Only known fields pass: options of better-auth in other fields, such as a redirect, stay off.
  const known = Object.keys(path.fields).filter((field) => Object.hasOwn(input, field));
  const email = "email" in input ? emailOf(input.email) : null;
  const fields = {
    ...Object.fromEntries(known.map((field) => [field, fieldOf(input, field)])),
    ...(email !== null && { email }),
  };
  const changing = await changingPerson(identity, path, request);
  const device = deviceOf(request.headers, identity.origin, deps.random);
  const holder = await factorHolder(identity, path, request);
  if (path.attempt !== null) {
    // A change of the sign-in requires the password again, which can be a guess too.
    const inbox = email ?? holder?.email ?? changing?.email ?? null;
    const who = { clientIp, email: inbox, device: device.id };
    await wait(deps, await countAttempt(identity, path.attempt, who));
  }
  if (path.takesAppCode && holder !== null) {
    await takeCode(identity, holder.id, String(input.code));
  }
  const headers = new Headers({
    "content-type": "application/json",
    // The frame has checked that the request comes from a page of ours.
    origin: identity.origin,
    cookie: request.headers.get("cookie") ?? "",
    "accept-language": request.headers.get("accept-language")?.slice(0, 512) ?? "",
    "user-agent": request.headers.get("user-agent")?.slice(0, 512) ?? "",
    [ORIGIN_HEADER]: request.headers.get("origin") ?? "",
    [IP_HEADER]: clientIp,
    [DEVICE_HEADER]: device.id,
    ...(isLocal && { [LOCAL_HEADER]: "1" }),
  });
  const inner = new Request(`${identity.origin}${AUTH_PATH}${path.opens ?? path.path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ ...fields, ...path.adds }),
  });
  const { result, proof } = await identity.mails.watch(request.headers, () =>
    identity.compared.during(() => identity.auth.handler(inner)),
  );
  if (holder !== null && result.status === CONSOLE_ERRORS.invalid_code.status) {
    await identity.tellIfLocked(holder);
  }
  if (changing !== null && path.changed !== undefined && result.ok) {
    if (path.isMailed === true) await identity.mails.notice(changing.email, path.changed);
    await identity.noteChange(changing, path.changed(englishMails.notices));
  }
  const answer = await ours(result, identity.shown(visitor, proof));
  if (device.cookie !== null) answer.headers.append("set-cookie", device.cookie);
  return answer;
}

/**
 * Finds the signed-in person whose way to sign in the path changes; null without a person or if
 * the path changes nothing.
 * @throws ConsoleError if the session must not change it
 */
async function changingPerson(
  identity: Identity,
  { changes, takesAppCode }: AuthPath,
  { headers }: Request,
): Promise<SignedIn | null> {
  const person = changes === undefined ? null : await identity.signedIn(headers);
  if (changes === undefined || person === null) return null;
  await identity.requireFactor(person, changes);
  // A code of an app that is already on changes nothing.
  const isOn =
    takesAppCode === true && (await identity.store.find(person.personId))?.twoFactorEnabled;
  return isOn === true ? null : person;
}

/**
 * Finds the person whose second factor is entered; null without a second factor, or if no sign-in
 * waits for one.
 */
async function factorHolder(
  { auth }: Identity,
  { attempt }: AuthPath,
  { headers }: Request,
): Promise<FactorHolder | null> {
  if (attempt !== "enter_second_factor") return null;
  const cookie = headers.get("cookie") ?? "";
  return await auth.api.factorHolder({ headers: new Headers({ cookie }) });
}

/** Names are stored without the spaces around them. */
function fieldOf(input: Fields, field: string): unknown {
  return field === "name" ? String(input.name).trim() : input[field];
}

/** Turns better-auth's answer into the console's form, without tokens. */
async function ours(response: Response, shown: object): Promise<Response> {
  const body = (await response.json().catch(() => null)) as Fields | null;
  const { status } = response;
  const isFine = status === OK;
  const { token: _, session: __, code, message, ...fields } = body ?? {};
  const known = ourRefusal(code, message);
  if (status >= ERRORS.internal_error.status && known === null) {
    throw new Error(`better-auth failed: ${status} ${code} ${message}`);
  }
  const answer = isFine
    ? Response.json({ ...fields, ...shown })
    : answerOf(known ?? { code: "not_possible", message: messageText(message) });
  for (const cookie of response.headers.getSetCookie()) answer.headers.append("set-cookie", cookie);
  return answer;
}

/** Returns our refusal in place of better-auth's; null if we have none. */
function ourRefusal(theirs: unknown, message: unknown): Refusal | null {
  const known = AFTER_WRONG_CODES[String(theirs)];
  if (known !== undefined) return known;
  const name = String(theirs).toLowerCase();
  const code = name === "unauthorized" ? "not_signed_in" : name;
  return isConsoleErrorCode(code) ? { code, message: messageText(message) } : null;
}

/** A code that is not in our table means nothing to a page; the message is for people. */
function messageText(message: unknown): string {
  return String(message ?? "This is not possible");
}

function answerOf({ code, message, retryAfterSeconds }: Refusal): Response {
  const { status } = CONSOLE_ERRORS[code];
  const answer = Response.json({ error: { code, message } }, { status });
  addRetryHeaders(answer.headers, { status, retryAfterSeconds });
  return answer;
}
