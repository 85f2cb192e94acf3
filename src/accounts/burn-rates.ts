// Checks the burn-rate rules, and changes those of an account.

import { applyChangesNow, type ChangedAccount } from "../../actors/changed-account.ts";
import type { RedisClient } from "../../actors/scripts/script.ts";
import { type BurnAction, type BurnTerms, burnWords } from "../core/access/burn-rules.ts";
import { accountPage } from "../core/account-page.ts";
import type { ReadBrand } from "../core/brand/brand.ts";
import { SECOND_MS } from "../core/durations.ts";
import { AdministrationError } from "../core/errors.ts";
import { mailOfReader } from "../core/mails/mail-texts.ts";
import { dollars } from "../core/money/money.ts";
import { webhookEvent } from "../core/webhooks/webhook-events.ts";
import type { AccountRow, AlsoInTransaction } from "../store/accounts/accounts.ts";
import { recordActivity } from "../store/accounts/activity.ts";
import {
  type BurnBreach,
  endAlarms,
  endMeasures,
  findBreaches,
  GAP_MS,
  raiseAlarm,
  sampleSpending,
} from "../store/accounts/burn-alarms.ts";
import { addBurnRule, removeBurnRule, TooManyRules } from "../store/accounts/burn-rules.ts";
import { addHolderMails, type HolderMail } from "../store/mail/outbox.ts";
import type { Database } from "../store/servers/database.ts";
import { addWebhookEvents } from "../store/webhooks/webhook-outbox.ts";
import {
  type AdministrationDeps,
  apply,
  type Done,
  explained,
  findOwnKey,
} from "./administration.ts";
import { bucketsBehind } from "./journal-age.ts";

export interface BurnWatchDeps {
  readonly redis: RedisClient;
  readonly database: Database;
  readonly accounts: { of(accountId: string, bucket: number): ChangedAccount };
  /** The rules for every key. */
  readonly ofOperator: () => readonly BurnTerms[];
  readonly brand: ReadBrand;
  /** The origin where people open the console; null if there is none. */
  readonly origin: string | null;
  readonly now: () => number;
  readonly onDelayed: AdministrationDeps["onDelayed"];
  /** Called for each alarm. */
  readonly onAlarm: (action: BurnAction) => void;
}

/** The author of lines about the measures of a rule. */
const SYSTEM = { name: "system", personId: null, country: null, ipHash: null } as const;

/**
 * Checks all rules once; returns how many fired. Any number of workers may check at the same time:
 * a rule fires once for each breach by a key. If an alarm cannot be raised, the other alarms are
 * raised all the same, and the next check tries the failed one again.
 * @throws AggregateError
 */
export async function watchBurnRates(deps: BurnWatchDeps): Promise<number> {
  const { database } = deps;
  const ofOperator = deps.ofOperator();
  const now = new Date(deps.now());
  const behind = await bucketsBehind(deps, GAP_MS / SECOND_MS);
  await sampleSpending(database, { now, isEveryKey: ofOperator.length > 0, behind });
  const changed = new Map((await endAlarms(database, now)).map(({ id, bucket }) => [id, bucket]));
  const failures: unknown[] = [];
  let fired = 0;
  try {
    for (const breach of await findBreaches(database, { now, ofOperator })) {
      const also = noticesOf(deps, breach, now);
      const account = await raiseAlarm(database, breach, { now, also }).catch((error) => {
        failures.push(error);
        return null;
      });
      if (account === null) continue;
      fired += 1;
      deps.onAlarm(breach.action);
      if (breach.action !== "alert") changed.set(account.id, account.bucket);
    }
  } finally {
    for (const [id, bucket] of changed) {
      await applyChangesNow(
        () => deps.accounts.of(id, bucket),
        (error) => deps.onDelayed(id, error),
      );
    }
  }
  if (failures.length === 0) return fired;
  const message = `${failures.length} alarms of burn-rate rules were not raised`;
  throw new AggregateError(failures, message);
}

function noticesOf(
  deps: BurnWatchDeps,
  breach: BurnBreach,
  now: Date,
): Parameters<typeof raiseAlarm>[2]["also"] {
  return async (tx, { account, number, endsAt }) => {
    const { keyId: key, keyName, spent, threshold, action } = breach;
    const whose = breach.isOperators ? "the operator's rule" : "the rule";
    const found = `${keyName}: ${dollars(spent)} in five minutes`;
    const about = `${found}, by ${whose} ${burnWords(breach)}`;
    await recordActivity(tx, account.number, {
      actor: SYSTEM,
      action: "burn_rule_fired",
      about,
      at: now,
    });
    const event = { key, spent, threshold, action, until: endsAt };
    const unique = `burn ${number}`;
    await addWebhookEvents(tx, account.number, [webhookEvent("key.burn_rate", unique, event)]);
    const mails = [burnRateMail(deps, breach, { account: account.id, endsAt })];
    await addHolderMails(tx, account, { mails, now });
  };
}

/** The mail to the holder of an account whose key spends fast. */
function burnRateMail(
  { brand, origin }: Pick<BurnWatchDeps, "brand" | "origin">,
  { keyName, spent, threshold, action, requestsPerMinute }: BurnBreach,
  { account, endsAt }: { readonly account: string; readonly endsAt: Date | null },
): HolderMail {
  const page = origin === null ? null : accountPage(origin, account, "limits").href;
  return {
    kind: "key_burn_rate",
    write: mailOfReader(brand(), ({ burnRate: words, facts, buttons, gap, usd, time }) => {
      const measure =
        endsAt === null
          ? words.alert
          : action === "pause"
            ? words.pause(time(endsAt))
            : words.slow(requestsPerMinute ?? 0, time(endsAt));
      return {
        subject: words.subject(keyName),
        paragraphs: [
          words.paragraph(keyName, usd(spent)),
          endsAt === null ? measure : `${measure}${gap}${words.after}`,
        ],
        facts: [
          [facts.key, keyName],
          [facts.spentInFive, usd(spent)],
          [facts.ruleFires, usd(threshold)],
        ],
        ...(page !== null && { button: { label: buttons.limits, url: page } }),
      };
    }),
  };
}

type Owner = Pick<AccountRow, "number" | "id" | "bucket">;

/** Adds a rule of an account, or of one of its keys. @throws AdministrationError */
export async function addOwnBurnRule(
  { accounts }: Pick<AdministrationDeps, "accounts">,
  account: Owner,
  rule: BurnTerms & { readonly key: string | null; readonly also: AlsoInTransaction },
): Promise<number> {
  try {
    return await explained(account, addBurnRule(accounts.deps.database, account.number, rule));
  } catch (error) {
    if (!(error instanceof TooManyRules)) throw error;
    throw new AdministrationError("wrong_state", error.message);
  }
}

/**
 * Removes a rule of an account. Keys that the rule has slowed or paused stay so until the measure
 * ends.
 * @throws AdministrationError
 */
export async function removeOwnBurnRule(
  { accounts, now }: Pick<AdministrationDeps, "accounts" | "now">,
  account: Owner,
  { number, also }: { readonly number: number; readonly also: AlsoInTransaction },
): Promise<void> {
  const { database } = accounts.deps;
  const terms = { number, now: new Date(now()), also };
  if (await removeBurnRule(database, account.number, terms)) return;
  throw new AdministrationError("not_found", `The account has no burn-rate rule ${number}`);
}

/**
 * Ends early the measures that rules have taken against a key. The rules fire again only after the
 * key's spending has fallen below their limits.
 * @throws AdministrationError
 */
export async function resumeKey(
  deps: AdministrationDeps,
  account: Owner,
  { key, also }: { readonly key: string; readonly also: AlsoInTransaction },
): Promise<Done> {
  const { id } = await findOwnKey(deps, account, key);
  const { database } = deps.accounts.deps;
  const now = new Date(deps.now());
  if (await endMeasures(database, { account: account.number, keyId: id, now, also })) {
    return { id, applied: await apply(deps, account) };
  }
  throw new AdministrationError("wrong_state", "No burn-rate rule slows or pauses this key");
}
