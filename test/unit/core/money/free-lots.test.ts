// Tests the lots of free credit against lots that are kept one by one.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { DAY_MS, HOUR_MS } from "../../../../src/core/durations.ts";
import {
  type FreeEnds,
  freeLots,
  NO_FREE_ENDS,
  usableFree,
  withCharge,
  withGrant,
} from "../../../../src/core/money/free-lots.ts";
import { nano } from "../../../../src/core/money/money.ts";

const START_MS = Date.UTC(2031, 2, 15);

type Step =
  | { readonly do: "grant"; readonly days: number; readonly amount: number }
  | { readonly do: "spend"; readonly permille: number }
  | { readonly do: "wait"; readonly hours: number }
  | { readonly do: "end" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant("grant" as const),
    days: fc.integer({ min: 1, max: 5 }),
    amount: fc.integer({ min: 1, max: 1_000 }),
  }),
  fc.record({ do: fc.constant("spend" as const), permille: fc.constantFrom(1_000, 500, 100, 3) }),
  fc.record({ do: fc.constant("wait" as const), hours: fc.constantFrom(1, 23, 24, 49) }),
  fc.constant({ do: "end" as const }),
);

/** Keeps each lot by itself, and spends the one that ends first. */
class Purse {
  lots: { readonly endsAtMs: number; amount: bigint }[] = [];

  left(nowMs: number): { endsAtMs: number; amount: bigint }[] {
    const sums = new Map<number, bigint>();
    for (const { endsAtMs, amount } of this.lots) {
      if (endsAtMs > nowMs) sums.set(endsAtMs, (sums.get(endsAtMs) ?? 0n) + amount);
    }
    return [...sums]
      .map(([endsAtMs, amount]) => ({ endsAtMs, amount }))
      .filter(({ amount }) => amount > 0n)
      .sort((a, b) => a.endsAtMs - b.endsAtMs);
  }

  spend(nowMs: number, cost: bigint): void {
    let due = cost;
    const open = this.lots.filter(({ endsAtMs }) => endsAtMs > nowMs);
    for (const lot of open.sort((a, b) => a.endsAtMs - b.endsAtMs)) {
      const part = lot.amount < due ? lot.amount : due;
      lot.amount -= part;
      due -= part;
    }
  }
}

/** Free credit as a wallet keeps it: one balance and the ends. */
class Kept {
  free = 0n;
  ends: FreeEnds = NO_FREE_ENDS;

  end(nowMs: number): void {
    this.free = usableFree(this.ends, nano(this.free), nowMs);
  }

  grant(amount: bigint, expiresAtMs: number, nowMs: number): void {
    const grant = { amount, expiresAtMs, createdAtMs: nowMs };
    this.end(nowMs);
    this.ends = withGrant(this.ends, grant, { owned: this.free, nowMs });
    this.free += amount;
  }

  spend(nowMs: number, cost: bigint): void {
    this.ends = withCharge(this.ends, nowMs, cost);
    this.free -= cost;
  }
}

test("each lot ends by itself, and the lot that ends first is spent first", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [kept, purse] = [new Kept(), new Purse()];
      let nowMs = START_MS;
      for (const one of steps) {
        if (one.do === "wait") nowMs += one.hours * HOUR_MS;
        else if (one.do === "end") kept.end(nowMs);
        else if (one.do === "spend") {
          const usable = usableFree(kept.ends, nano(kept.free), nowMs);
          const cost = (usable * BigInt(one.permille)) / 1_000n;
          kept.spend(nowMs, cost);
          purse.spend(nowMs, cost);
        } else {
          const endsAtMs = nowMs + one.days * DAY_MS;
          kept.grant(BigInt(one.amount), endsAtMs, nowMs);
          purse.lots.push({ endsAtMs, amount: BigInt(one.amount) });
        }
        expect<unknown>(freeLots(kept.ends, nano(kept.free), nowMs)).toEqual(purse.left(nowMs));
      }
    }),
    { numRuns: 2_000 },
  );
});

test("a lot that arrives after its end, beside one that goes on, gives nothing", () => {
  const first = { amount: 5n, expiresAtMs: START_MS + 9 * DAY_MS, createdAtMs: START_MS };
  const ends = withGrant(NO_FREE_ENDS, first, { owned: 0n, nowMs: START_MS });
  const nowMs = START_MS + 2 * DAY_MS;
  const late = { amount: 3n, expiresAtMs: START_MS + DAY_MS, createdAtMs: START_MS };
  const after = withGrant(ends, late, { owned: 5n, nowMs });
  expect(usableFree(after, nano(8n), nowMs + 1)).toBe(nano(5n));
});

test("free credit without an end does not end with a lot that has one", () => {
  const endless = { amount: 5n, expiresAtMs: null, createdAtMs: START_MS };
  const ends = withGrant(NO_FREE_ENDS, endless, { owned: 0n, nowMs: START_MS });
  expect(freeLots(ends, nano(5n), START_MS)).toEqual([{ amount: nano(5n), endsAtMs: null }]);
});
