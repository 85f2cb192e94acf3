// Adds and changes the receivers of webhooks of an account. A secret is shown only when it is made.

import { AdministrationError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { OLD_SECRET_MS, TESTS_PER_MINUTE } from "../core/webhooks/webhook-rules.ts";
import type { WebhookSeals } from "../core/webhooks/webhook-seals.ts";
import { newWebhookSecret } from "../core/webhooks/webhook-signature.ts";
import type { AccountRow, AlsoInTransaction } from "../store/accounts/accounts.ts";
import { accountOfReceiver } from "../store/webhooks/receiver-list.ts";
import {
  changeReceiver,
  createReceiver,
  deleteReceiver,
  type NewReceiver,
  type Receiver,
  type ReceiverChange,
  TooManyReceivers,
} from "../store/webhooks/receivers.ts";
import { type ReplayOf, replayDeliveries } from "../store/webhooks/replays.ts";
import { addTestEvent, type TestResult } from "../store/webhooks/webhook-outbox.ts";
import { type AdministrationDeps, explained } from "./administration.ts";

export interface WebhookDeps {
  readonly administration: Pick<AdministrationDeps, "accounts" | "now">;
  readonly webhooks: {
    readonly seals: WebhookSeals;
    /** True if receivers may have any address. */
    readonly allowPrivate: boolean;
  };
}

/** A change of one receiver of an account. */
export interface ReceiverTarget {
  readonly account: Pick<AccountRow, "id" | "number">;
  readonly id: string;
  /** Runs in the transaction of the change. */
  readonly also: AlsoInTransaction;
}

type ReceiverTerms = Pick<NewReceiver, "url" | "description" | "events">;

export interface ReceiverWithSecret {
  readonly receiver: Receiver;
  /** The secret, which is shown here and never again. */
  readonly secret: string;
}

/**
 * Adds a receiver; its terms are checked. For 24 hours the same `request` with the same terms gets
 * the receiver that it added, so that a lost answer adds none twice (D-924).
 * @throws AdministrationError
 */
export async function addReceiver(
  { administration, webhooks }: WebhookDeps,
  { account, also }: Omit<ReceiverTarget, "id">,
  { request = null, ...terms }: ReceiverTerms & { readonly request?: string | null },
): Promise<ReceiverWithSecret> {
  const { database, random } = administration.accounts.deps;
  const id = newId("receiver", random);
  const secret = newWebhookSecret(random);
  const sealed = webhooks.seals.seal(secret, id, random);
  const now = new Date(administration.now());
  const since = new Date(now.getTime() - OLD_SECRET_MS);
  const creating = createReceiver(database, account.number, {
    receiver: { ...terms, id, secret: sealed, rotation: request },
    now,
    isMade: (known) =>
      request !== null &&
      known.rotation === request &&
      known.createdAt > since &&
      hasTerms(known, terms),
    also,
  });
  const receiver = await explained(account, refusingMore(creating));
  if (receiver.id === id) return { receiver, secret };
  const made = webhooks.seals.open(receiver.secret, receiver.id);
  if (made !== null) return { receiver, secret: made.text };
  throw new AdministrationError(
    "wrong_state",
    `The webhook ${receiver.id} was added before, and its secret cannot be read: rotate it`,
  );
}

function hasTerms({ url, description, events }: Receiver, terms: ReceiverTerms): boolean {
  const hasEvents = new Set(events).symmetricDifference(new Set(terms.events)).size === 0;
  return url === terms.url && description === terms.description && hasEvents;
}

async function refusingMore<T>(creating: Promise<T>): Promise<T> {
  try {
    return await creating;
  } catch (error) {
    if (!(error instanceof TooManyReceivers)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

/**
 * Enables a receiver of any account, or disables it as the operator.
 * @throws AdministrationError
 */
export async function setReceiverState(
  { administration }: Pick<WebhookDeps, "administration">,
  {
    id,
    disabled,
    also,
  }: Pick<ReceiverTarget, "id" | "also"> & {
    readonly disabled: "operator" | null;
  },
): Promise<void> {
  const account = await receiverAccount({ administration }, id);
  await changed(administration, { account, id, also }, () => ({ disabled }));
}

/** The account of a receiver. @throws AdministrationError if there is no such receiver */
export async function receiverAccount(
  { administration }: Pick<WebhookDeps, "administration">,
  id: string,
): Promise<ReceiverTarget["account"]> {
  const account = await accountOfReceiver(administration.accounts.deps.database, id);
  if (account === null) throw noReceiver(id);
  return account;
}

/** Changes a receiver; one that the operator disabled stays so. @throws AdministrationError */
export async function updateReceiver(
  { administration }: WebhookDeps,
  target: ReceiverTarget,
  { enabled, ...terms }: ReceiverTerms & { readonly enabled: boolean },
): Promise<Receiver> {
  return await changed(administration, target, ({ disabled }) => ({
    ...terms,
    disabled: enabled ? refusingOperators(disabled) : (disabled ?? "holder"),
  }));
}

function refusingOperators(disabled: Receiver["disabled"]): null {
  if (disabled !== "operator") return null;
  throw new AdministrationError("wrong_state", "The operator disabled this webhook: ask for help");
}

/**
 * Gives a receiver a new secret. For 24 hours the previous secret signs too, and a repeat with the
 * same `request` gets the same secret: a client that lost the answer does not lose the secret
 * (D-924).
 * @throws AdministrationError
 */
export async function rotateSecret(
  { administration, webhooks }: WebhookDeps,
  target: ReceiverTarget,
  request: string,
): Promise<ReceiverWithSecret> {
  const { random } = administration.accounts.deps;
  let secret = newWebhookSecret(random);
  const sealed = webhooks.seals.seal(secret, target.id, random);
  const now = administration.now();
  const oldSecretUntil = new Date(now + OLD_SECRET_MS);
  const receiver = await changed(administration, target, (present) => {
    const isRepeat = present.rotation === request && Number(present.oldSecretUntil) > now;
    // If no configured pepper opens the stored secret, nothing can be signed with the secret, so
    // the repeat makes a new one.
    const made = isRepeat ? webhooks.seals.open(present.secret, present.id) : null;
    if (made !== null) {
      secret = made.text;
      return null;
    }
    return { secret: sealed, oldSecret: present.secret, oldSecretUntil, rotation: request };
  });
  return { receiver, secret };
}

async function changed(
  { accounts, now }: WebhookDeps["administration"],
  { account, id, also }: Omit<ReceiverTarget, "account"> & { account: { readonly number: number } },
  decide: (receiver: Receiver) => ReceiverChange | null,
): Promise<Receiver> {
  const order = { id, now: new Date(now()), decide, also };
  const receiver = await changeReceiver(accounts.deps.database, account.number, order);
  if (receiver === null) throw noReceiver(id);
  return receiver;
}

/**
 * Deletes a receiver and its deliveries; one that the operator disabled stays, so that it is not
 * added again. @throws AdministrationError
 */
export async function removeReceiver(
  { administration }: WebhookDeps,
  { account, id, also }: ReceiverTarget,
): Promise<void> {
  const { database } = administration.accounts.deps;
  const check = ({ disabled }: Receiver) => void refusingOperators(disabled);
  const isDeleted = await deleteReceiver(database, account.number, { id, check, also });
  if (!isDeleted) throw noReceiver(id);
}

/** Sends a test event to a receiver. @throws AdministrationError */
export async function testReceiver(
  { administration }: WebhookDeps,
  { account, id, also }: ReceiverTarget,
): Promise<void> {
  const { accounts, now } = administration;
  const order = { id, now: new Date(now()), also };
  const result = await addTestEvent(accounts.deps.database, account.number, order);
  if (result === "no_receiver") throw noReceiver(id);
  if (result !== "added") throw new AdministrationError("wrong_state", TEST_WORDS[result]);
}

/** Sends one event again; with a receiver, only one of its own. @throws AdministrationError */
export async function replayOne(
  { administration }: Pick<WebhookDeps, "administration">,
  { account, also }: Omit<ReceiverTarget, "id">,
  of: Extract<ReplayOf, { readonly delivery: number }>,
): Promise<void> {
  if ((await replayed(administration, { account, also }, of)) > 0) return;
  throw new AdministrationError(
    "wrong_state",
    "Only a delivery that began over a minute ago, of which no attempt is under way, " +
      "and whose webhook is enabled, is sent again",
  );
}

/** Sends the events again that a receiver did not take since a time; returns their number. */
export async function replayFailed(
  { administration }: Pick<WebhookDeps, "administration">,
  { account, id, also }: ReceiverTarget,
  since: Date,
): Promise<number> {
  return await replayed(administration, { account, also }, { receiver: id, since });
}

async function replayed(
  { accounts, now }: WebhookDeps["administration"],
  { account, also }: Omit<ReceiverTarget, "id">,
  of: ReplayOf,
): Promise<number> {
  const order = { of, now: new Date(now()), also };
  return await replayDeliveries(accounts.deps.database, account.number, order);
}

const TEST_WORDS: Readonly<Record<Exclude<TestResult, "added" | "no_receiver">, string>> = {
  disabled: "The webhook is disabled and gets no events: enable it first",
  too_many: `An account can send at most ${TESTS_PER_MINUTE} test events in a minute`,
};

function noReceiver(id: string): AdministrationError {
  return new AdministrationError("not_found", `There is no webhook ${id}`);
}
