// GET /console/api/me and the endpoints below it: people read and change their own data.

import project from "../../../package.json";
import { wait } from "../../core/clock.ts";
import { ConsoleError } from "../../core/console-errors.ts";
import { ApiError } from "../../core/errors.ts";
import { type Language, offeredLanguage } from "../../core/languages.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import {
  type PersonContext,
  personEndpoint,
  requireProof,
} from "../../http/console/console-endpoint.ts";
import type { SignedIn } from "../../http/console/people.ts";
import { atLeast } from "../../identity/answer-time.ts";
import { countAttempt } from "../../identity/attempt-limits.ts";
import type { IdentityDeps } from "../../identity/auth-endpoints.ts";
import { deviceOf } from "../../identity/device-cookie.ts";
import { emailOf } from "../../identity/email-field.ts";
import { secondFactorOf } from "../../identity/identity.ts";
import { ME_EXAMPLE, Me, type MeReply } from "./me-schema.ts";
import {
  Changed,
  Email,
  EmailBody,
  LanguageBody,
  Mailed,
  NameBody,
  NewEmailBody,
  ProofBody,
  SESSIONS_EXAMPLE,
  Sessions,
  type SessionsReply,
} from "./people-schema.ts";

export interface MeDeps extends IdentityDeps {
  readonly installation: Omit<MeReply["installation"], "version">;
}

type MeContext = PersonContext<MeDeps>;

const PATH = "/console/api/me";
const BODY_BYTES_MAX = 8 * 1_024;
/** A change that only the person may make requires a password or code that is at most this old. */
export const PROOF_MS = 5 * 60_000;

const OK_EXAMPLE = { summary: "Done", reply: { ok: true } };

const me = personEndpoint({
  id: "me",
  method: "GET",
  path: PATH,
  summary: "Who is signed in, and their accounts",
  reply: Me,
  examples: [{ summary: "Ada", reply: ME_EXAMPLE }],
  async run({ deps, person }: MeContext) {
    const { store, sso } = deps.identity;
    const [row, accounts] = await Promise.all([
      store.find(person.personId),
      store.accountsOf(person.personId),
    ]);
    return {
      person: {
        id: person.personId,
        email: person.email,
        name: person.name,
        language: offeredLanguage(row?.language, deps.identity.config.brand().languages),
        is_operator: person.isOperator,
        has_two_factor: row?.twoFactorEnabled === true,
        second_factor: secondFactorOf(person, row?.hasFactor === true),
        operator_pages: operatorPages(person, sso?.config.isRequired === true),
        is_by_sso: person.isBySso,
        proved_at: new Date(person.provedAtMs).toISOString(),
      },
      accounts: accounts.map(({ account, role }) => ({
        id: account.id,
        name: account.name ?? account.id,
        surface: account.surface,
        state: account.state,
        role,
      })),
      installation: { ...deps.installation, version: project.version },
    } satisfies MeReply;
  },
});

/** The proofs that the pages of operators still require of a session; null for other people. */
function operatorPages(
  { isOperator, isBySso, hasTwoFactor }: SignedIn,
  mustUseSso: boolean,
): MeReply["person"]["operator_pages"] {
  if (!isOperator) return null;
  if (mustUseSso && !isBySso) return "need_sso";
  return hasTwoFactor ? "open" : "need_second_factor";
}

const renameMe = personEndpoint({
  id: "renameMe",
  method: "POST",
  path: `${PATH}/name`,
  summary: "Change one's own name",
  body: jsonBody(NameBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Changed,
  examples: [{ ...OK_EXAMPLE, body: { name: "Ada" } }],
  async run({ deps, person }: MeContext, { name }: { readonly name: string }) {
    await deps.identity.store.rename(person.personId, name.trim());
    return { ok: true };
  },
});

const chooseLanguage = personEndpoint({
  id: "chooseLanguage",
  method: "POST",
  path: `${PATH}/language`,
  summary: "Choose the language of one's own pages and mails",
  body: jsonBody(LanguageBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Changed,
  examples: [{ ...OK_EXAMPLE, body: { language: "de" } }],
  async run({ deps, person }: MeContext, { language }: { readonly language: Language }) {
    const offered = deps.identity.config.brand().languages;
    if (!offered.includes(language)) {
      const message = `language must be one of ${offered.join(", ")}: others are not offered here`;
      throw new ApiError("invalid_parameter", message, { param: "language" });
    }
    await deps.identity.store.setLanguage(person.personId, language);
    return { ok: true };
  },
});

const prove = personEndpoint({
  id: "proveMe",
  method: "POST",
  path: `${PATH}/prove`,
  summary: "Enter the password, or a mailed code, again before something that needs it",
  body: jsonBody(ProofBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Changed,
  examples: [{ ...OK_EXAMPLE, body: { password: "a good long password" } }],
  async run(context: MeContext, given: { readonly password?: string; readonly otp?: string }) {
    const { deps, person, request, clientIp } = context;
    const { identity } = deps;
    const { password, otp } = given;
    const device = deviceOf(request.headers, identity.origin, deps.random).id;
    const who = { clientIp, email: person.email, device };
    if (password !== undefined) {
      await wait(deps, await countAttempt(identity, "password", who));
      if (!(await identity.hasPassword(request.headers, password))) throw wrong("password");
    } else if (otp !== undefined) {
      await wait(deps, await countAttempt(identity, "enter_code", who));
      if (!(await identity.hasCode(person.email, otp))) throw wrong("code");
    } else {
      throw new ApiError("invalid_parameter", "password or otp is needed", { param: "password" });
    }
    await identity.store.prove(person.sessionId, new Date(identity.now()));
    return { ok: true };
  },
});

function wrong(what: string): ConsoleError {
  return new ConsoleError("wrong_proof", `The ${what} is wrong`);
}

/**
 * Requires that this session may change how its person signs in.
 * @throws ConsoleError
 */
export async function requireChange(context: MeContext): Promise<void> {
  await context.deps.identity.requireFactor(context.person, "factor or address");
  requireProof(context, PROOF_MS);
}

const askForEmail = personEndpoint({
  id: "askForEmailChange",
  method: "POST",
  path: `${PATH}/email`,
  summary: "Ask for another address; a link is mailed there. Needs a recent password or code",
  body: jsonBody(EmailBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Mailed,
  examples: [{ ...OK_EXAMPLE, body: { email: "ada@example.org" } }],
  async run(context: MeContext, fields: { readonly email: string }) {
    const { deps, person, clientIp } = context;
    const { identity } = deps;
    await requireChange(context);
    const email = emailOf(fields.email);
    await countAttempt(identity, "sign_up", { clientIp, email });
    const asked = identity.mails.watch(context.request.headers, () =>
      identity.askForEmailChange(person.personId, email),
    );
    const { proof } = await atLeast(deps, asked);
    return { ok: true, ...identity.shown(context, proof) };
  },
});

const changeEmail = personEndpoint({
  id: "changeEmail",
  method: "POST",
  path: `${PATH}/email/confirm`,
  summary: "Take the new address, with the link that was mailed there",
  body: jsonBody(NewEmailBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Email,
  examples: [],
  async run({ deps, person }: MeContext, { token }: { readonly token: string }) {
    await deps.identity.requireFactor(person, "factor or address");
    const email = await deps.identity.changeEmail(person, token);
    if (email !== null) return { email };
    throw new ConsoleError("link_not_valid", "This link was used, has ended, or is not for you");
  },
});

const sessions = personEndpoint({
  id: "listSessions",
  method: "GET",
  path: `${PATH}/sessions`,
  summary: "List where one is signed in",
  reply: Sessions,
  examples: [{ summary: "One session", reply: SESSIONS_EXAMPLE }],
  async run({ deps, person }: MeContext) {
    const { store, now } = deps.identity;
    const rows = await store.sessionsOf(person.personId, new Date(now()));
    return {
      sessions: rows.map((row) => ({
        id: row.id,
        is_this: row.id === person.sessionId,
        user_agent: row.userAgent,
        country: row.country,
        created_at: row.createdAt.toISOString(),
        expires_at: row.expiresAt.toISOString(),
      })),
    } satisfies SessionsReply;
  },
});

const endSession = personEndpoint({
  id: "endSession",
  method: "POST",
  path: `${PATH}/sessions/{session}/end`,
  summary: "End one session of one's own",
  reply: Changed,
  examples: [],
  async run({ deps, person, params }: MeContext) {
    const id = params.session ?? "";
    if (await deps.identity.store.endSession(person.personId, id)) return { ok: true };
    throw new ConsoleError("session_not_found", `There is no session ${id}`);
  },
});

const endOtherSessions = personEndpoint({
  id: "endOtherSessions",
  method: "POST",
  path: `${PATH}/end-other-sessions`,
  summary: "End all sessions of one's own but this one",
  reply: Changed,
  examples: [OK_EXAMPLE],
  async run({ deps, person }: MeContext) {
    await deps.identity.store.endOtherSessions(person.personId, person.sessionId);
    return { ok: true };
  },
});

export const ME_ENDPOINTS = [
  me,
  renameMe,
  chooseLanguage,
  prove,
  askForEmail,
  changeEmail,
  sessions,
  endSession,
  endOtherSessions,
] as const;
