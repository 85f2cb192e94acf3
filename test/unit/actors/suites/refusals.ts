// Tests which refusal a caller gets when several apply: the first of the error table.

import { describe, expect, test } from "bun:test";
import { deriveTier, type Scope } from "../../../../src/core/access/limits.ts";
import { ApiError, ERRORS, type ErrorCode } from "../../../../src/core/errors.ts";
import { changeKey } from "../../../../src/store/accounts/account-keys.ts";
import { type AccountTerms, daysAgo, type TestAccount } from "../../../support/stores/accounts.ts";
import { suiteWorld } from "../../../support/stores/suite-world.ts";
import { orErrorCode, verdictIn } from "../../../support/stores/verdicts.ts";
import {
  type Asked,
  ask,
  openAccount,
  usd,
  type World,
  walletOf,
} from "../../../support/stores/world.ts";
import type { WorldFactory } from "./world-factory.ts";

/** Makes a code apply to the last call of an account. */
interface Cause {
  readonly terms?: AccountTerms;
  readonly call?: Asked;
  readonly ownCap?: bigint;
  readonly state?: { readonly state: "suspended"; readonly stateReason: string };
  readonly fillsWindow?: true;
  readonly fillsStreams?: true;
  readonly revokes?: true;
  readonly disables?: true;
  readonly owes?: true;
}

const BUILD_DAYS = 8;
/** A window that is full soon, and larger than the streams of the tier, which count in it. */
const REQUESTS = 30;
const WITHOUT_MAIL: readonly Scope[] = ["models", "search", "maps"];

const CAUSES = {
  invalid_api_key: { revokes: true },
  payment_required: { owes: true },
  account_inactive: { state: { state: "suspended", stateReason: "dispute" } },
  ip_not_allowed: { terms: { ip: ["10.0.0.0/8"] }, call: { clientIp: "192.0.2.1" } },
  insufficient_scope: { terms: { scopes: WITHOUT_MAIL }, call: { scope: "mail" } },
  tier_required: { terms: { paid: "49.99" }, call: { scope: "mail" } },
  rate_limit_exceeded: { terms: { requestsPerMinute: REQUESTS }, fillsWindow: true },
  body_too_large: { call: { refusal: new ApiError("body_too_large", "known before") } },
  model_not_allowed: { terms: { models: ["other-*"] } },
  model_unavailable: { call: { refusal: new ApiError("model_unavailable", "known before") } },
  key_budget_exceeded: { terms: { monthlyLimit: "1" } },
  monthly_limit_reached: { ownCap: usd("1") },
  insufficient_credits: { call: { bound: usd("90") } },
  too_many_streams: { fillsStreams: true, call: { stream: true } },
} as const satisfies Partial<Record<ErrorCode, Cause>>;

type Caused = keyof typeof CAUSES;

/** Two codes that cannot apply together: a call has at most one of these refusals. */
const EXCLUSIVE: readonly (readonly Caused[])[] = [["body_too_large", "model_unavailable"]];

const CODES = Object.keys(CAUSES) as Caused[];
const ORDER = Object.keys(ERRORS);

/** A reversal above the balance leaves a debt. */
async function owe(world: World, account: TestAccount): Promise<void> {
  const { paid } = await walletOf(account);
  await world.database.sql`
    INSERT INTO operations (account, number, kind, balance, amount)
    SELECT account, max(number) + 1, 'reversal', 'paid', ${(-paid - 1n).toString()}::bigint
    FROM operations WHERE account = ${account.row.number} GROUP BY account`;
  await account.actor.applyOperations();
}

async function refusalCodeFor(world: World, causes: readonly Cause[]): Promise<string> {
  const terms: AccountTerms = Object.assign(
    { paid: "50", paidAt: daysAgo(BUILD_DAYS) },
    ...causes.map((cause) => cause.terms),
  );
  const account = await openAccount(world, terms);
  const [ownCap] = causes.flatMap((cause) => cause.ownCap ?? []);
  if (ownCap !== undefined) {
    await world.store.change(account.row, { ownCap: usd("1") }, new Date());
  }
  const allowed = { clientIp: "10.1.1.1" };
  const probe = async (more: Asked) => {
    const admission = await account.actor.admit(ask(account.keyId, usd("0"), more));
    if (admission.verdict === "short") throw new Error("short");
    return admission;
  };
  const view = await account.actor.view(account.keyId);
  const tier = deriveTier(view.tierInputs, view.nowMs);
  if (causes.some((cause) => cause.fillsStreams)) {
    await Promise.all(
      Array.from({ length: tier.streams }, () => probe({ ...allowed, stream: true })),
    );
  }
  if (causes.some((cause) => cause.fillsWindow)) {
    await Promise.all(Array.from({ length: REQUESTS }, () => probe(allowed)));
  }
  const [state] = causes.flatMap((cause) => cause.state ?? []);
  if (state !== undefined) await world.store.change(account.row, state, new Date());
  if (causes.some((cause) => cause.revokes)) {
    await world.store.revokeKey(account.keyId, new Date());
  }
  if (causes.some((cause) => cause.disables)) {
    const { row, keyId } = account;
    await changeKey(world.database, { account: row.number, keyId, isDisabled: true });
  }
  if (causes.some((cause) => cause.owes)) await owe(world, account);
  await account.actor.configure();
  const call = { bound: usd("2"), ...allowed };
  const probing = probe(Object.assign(call, ...causes.map((cause) => cause.call)));
  return await orErrorCode(probing.then(verdictIn));
}

export const refusalSuite = (open: WorldFactory): void =>
  describe("refusals", () => {
    const world = suiteWorld(() => open());

    test("each cause alone is answered with its own code", async () => {
      for (const code of CODES) expect(await refusalCodeFor(world, [CAUSES[code]])).toBe(code);
    });

    test("a disabled key is refused as a revoked one is, whatever else applies", async () => {
      for (const code of CODES) {
        const refused = await refusalCodeFor(world, [CAUSES[code], { disables: true }]);
        expect([code, refused]).toEqual([code, "invalid_api_key"]);
      }
    });

    test("of any two causes the first of the error table is answered", async () => {
      const wrong: string[] = [];
      for (const [index, first] of CODES.entries()) {
        for (const second of CODES.slice(index + 1)) {
          if (EXCLUSIVE.some((pair) => pair.includes(first) && pair.includes(second))) continue;
          const expected = ORDER.indexOf(first) < ORDER.indexOf(second) ? first : second;
          const code = await refusalCodeFor(world, [CAUSES[first], CAUSES[second]]);
          if (code !== expected) wrong.push(`${first} and ${second}: ${code}`);
        }
      }
      expect(wrong).toEqual([]);
    });

    test("a refusal for money names the spendable amount, and takes nothing", async () => {
      const account = await openAccount(world, { paid: "50", monthlyLimit: "3" });
      const refused = await account.actor.admit(ask(account.keyId, usd("4")));
      expect(refused).toMatchObject({ verdict: "refused", funds: { spendable: usd("3") } });
      const { paid, free, heldPaid, heldFree } = await walletOf(account);
      expect([paid, free, heldPaid, heldFree]).toEqual([usd("50"), usd("5"), usd("0"), usd("0")]);
    });
  });
