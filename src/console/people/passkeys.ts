// The passkeys of the person who is signed in: /console/api/me/passkeys.

import { ConsoleError } from "../../core/console-errors.ts";
import { englishMails } from "../../core/mails/english.ts";
import { jsonBody } from "../../http/body/json-body.ts";
import { type PersonContext, personEndpoint } from "../../http/console/console-endpoint.ts";
import type { Checked } from "../../http/schema.ts";
import type { Notice } from "../../identity/identity-mails.ts";
import type { Transaction } from "../../store/servers/transaction.ts";
import { requireSession } from "../noted.ts";
import { type MeDeps, requireChange } from "./me.ts";
import {
  NewPasskeyBody,
  PASSKEYS_EXAMPLE,
  PasskeyOptions,
  PasskeyRef,
  Passkeys,
  type PasskeysReply,
} from "./passkeys-schema.ts";
import { Changed } from "./people-schema.ts";

type MeContext = PersonContext<MeDeps>;
type NewPasskey = Checked<typeof NewPasskeyBody>;

const PATH = "/console/api/me/passkeys";
const BODY_BYTES_MAX = 32 * 1_024;

/** The origin of the page that asks. The frame has checked that it is one of ours. */
const originOf = ({ request }: MeContext) => request.headers.get("origin") ?? "";

async function challengesOf({ deps }: MeContext) {
  return (await deps.identity.auth.$context).internalAdapter;
}

const listPasskeys = personEndpoint({
  id: "listPasskeys",
  method: "GET",
  path: PATH,
  summary: "List one's own passkeys",
  reply: Passkeys,
  examples: [{ summary: "One passkey", reply: PASSKEYS_EXAMPLE }],
  async run({ deps, person }: MeContext) {
    const rows = await deps.identity.passkeys.store.list(person.personId);
    return {
      passkeys: rows.map(({ id, name, createdAt, usedAt }) => ({
        id,
        name,
        created_at: createdAt.toISOString(),
        used_at: usedAt?.toISOString() ?? null,
      })),
    } satisfies PasskeysReply;
  },
});

const beginPasskey = personEndpoint({
  id: "beginPasskey",
  method: "POST",
  path: `${PATH}/begin`,
  summary: "Get what a device must sign to make a passkey. Needs a recent password or code",
  reply: PasskeyOptions,
  examples: [],
  async run(context: MeContext) {
    await requireChange(context);
    const { passkeys } = context.deps.identity;
    const challenges = await challengesOf(context);
    const options = await passkeys.beginAdding(challenges, context.person, originOf(context));
    return { options };
  },
});

const addPasskey = personEndpoint({
  id: "addPasskey",
  method: "POST",
  path: PATH,
  summary: "Add the passkey that a device has made. Needs a recent password or code",
  body: jsonBody(NewPasskeyBody, { bytesMax: BODY_BYTES_MAX }),
  reply: PasskeyRef,
  examples: [],
  async run(context: MeContext, { name, response }: NewPasskey) {
    await requireChange(context);
    const { deps, person } = context;
    const { passkeys, mails, store } = deps.identity;
    const given = { origin: originOf(context), name: name.trim(), response };
    const isFirst = (await store.find(person.personId))?.hasFactor === false;
    const also = async (tx: Transaction) => {
      await requireSession(context, tx);
      await store.markPasskeyIn(tx, person.sessionId);
    };
    const id = await passkeys.add(await challengesOf(context), person, { ...given, also });
    // Ends sessions that began without a second factor, and links and codes that could begin one.
    if (isFirst) await store.endOtherSessions(person.personId, person.sessionId);
    const what: Notice = ({ passkeyAdded }) => passkeyAdded(given.name);
    await mails.notice(person.email, what, true);
    await deps.identity.noteChange(person, what(englishMails.notices));
    return { id };
  },
});

const removePasskey = personEndpoint({
  id: "removePasskey",
  method: "POST",
  path: `${PATH}/{passkey}/remove`,
  summary: "Remove a passkey: it no longer signs in. Needs a recent password or code",
  reply: Changed,
  examples: [],
  async run(context: MeContext) {
    await requireChange(context);
    const { deps, person, params } = context;
    const { passkeys, mails } = deps.identity;
    const id = params.passkey ?? "";
    const name = await passkeys.store.remove(person.personId, id);
    if (name === null) throw new ConsoleError("passkey_not_found", `There is no passkey ${id}`);
    const what: Notice = ({ passkeyRemoved }) => passkeyRemoved(name);
    await mails.notice(person.email, what);
    await deps.identity.noteChange(person, what(englishMails.notices));
    return { ok: true };
  },
});

export const PASSKEY_ENDPOINTS = [listPasskeys, beginPasskey, addPasskey, removePasskey] as const;
