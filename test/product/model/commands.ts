// Describes the events in the life of a wallet, as data. A run is a list of commands; the same list
// always runs alike.

import fc from "fast-check";
import type { PaymentCommand } from "./model-payments.ts";

/** A change of a balance; `dies` is true if the process dies between Postgres and Redis. */
export type OperationCommand = PaymentCommand & { readonly dies: boolean };

export type Command =
  | {
      readonly do: "admit";
      readonly process: number;
      readonly key: number;
      readonly nano: number;
      readonly freeEligible: boolean;
      readonly stream: boolean;
      readonly tentative: boolean;
      /** The account is asked before the body of the request is read. */
      readonly ahead: boolean;
      /** False if nothing follows a try that only counted: its answer or its caller was lost. */
      readonly goesOn: boolean;
      /**
       * The hold belongs to no process and has a deadline of its own, as queued mail does. The hold
       * is above 0.
       */
      readonly detached: boolean;
      readonly refusal: "none" | "invalid_json" | "insufficient_scope";
    }
  | { readonly do: "settle"; readonly pick: number; readonly permille: number }
  | { readonly do: "stream"; readonly pick: number; readonly permille: number }
  /** Streams a part, renews its lease, then is silent until the sweep has settled its hold. */
  | { readonly do: "vanish"; readonly pick: number; readonly permille: number }
  /** Extends the deadlines of all holds that belong to no process. */
  | { readonly do: "extend" }
  | { readonly do: "renew"; readonly process: number }
  | { readonly do: "crash"; readonly process: number }
  | { readonly do: "sweep" }
  /** Removes the leases of processes that are gone and have no hold. */
  | { readonly do: "forget" }
  | { readonly do: "clock"; readonly ms: number }
  | { readonly do: "edge"; readonly of: "month" | "free"; readonly ms: number }
  | OperationCommand
  | { readonly do: "flush" }
  | { readonly do: "evict"; readonly process: number }
  | { readonly do: "rebuild" }
  | { readonly do: "lose" }
  | { readonly do: "expire" }
  | { readonly do: "revoke"; readonly process: number }
  | { readonly do: "suspend"; readonly process: number }
  | { readonly do: "view"; readonly process: number }
  | { readonly do: "resend" };

/** A list of commands, and the kind of account that they run on. */
export interface Run {
  readonly kind: number;
  readonly commands: readonly Command[];
}

const process = fc.nat(1);
const pick = fc.nat(99);
const permille = fc.oneof(fc.constantFrom(0, 1000, 1300), fc.nat(1000));
const dies = fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, fc.boolean());

const bound = fc.oneof(
  { arbitrary: fc.constantFrom(0, 1, 5_000_000_000, 300_000_000_000), weight: 1 },
  { arbitrary: fc.nat(2_000_000_000), weight: 5 },
  { arbitrary: fc.nat(9_000_000_000), weight: 2 },
);

const anyAdmit = fc.record({
  do: fc.constant("admit" as const),
  process,
  key: fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, fc.nat(1)),
  nano: bound,
  freeEligible: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, fc.boolean()),
  stream: fc.boolean(),
  tentative: fc.oneof({ arbitrary: fc.constant(false), weight: 2 }, fc.boolean()),
  ahead: fc.oneof({ arbitrary: fc.constant(false), weight: 3 }, fc.boolean()),
  goesOn: fc.oneof({ arbitrary: fc.constant(true), weight: 2 }, fc.boolean()),
  detached: fc.oneof({ arbitrary: fc.constant(false), weight: 4 }, fc.boolean()),
  refusal: fc.oneof(
    { arbitrary: fc.constant("none" as const), weight: 15 },
    fc.constantFrom("invalid_json" as const, "insufficient_scope" as const),
  ),
});

const admit = anyAdmit.map(({ nano, ...fields }) => ({
  ...fields,
  nano: fields.detached ? Math.max(1, nano) : nano,
}));

const clockMs = fc.oneof(
  { arbitrary: fc.nat(1_500), weight: 6 },
  { arbitrary: fc.constantFrom(30_000, 59_999, 60_000, 61_000), weight: 4 },
  { arbitrary: fc.constantFrom(-1_000, -20_000, -7_200_000), weight: 2 },
  { arbitrary: fc.constantFrom(86_400_000, 900_000), weight: 1 },
);

const edge = fc.record({
  do: fc.constant("edge" as const),
  of: fc.constantFrom("month" as const, "month" as const, "free" as const),
  ms: fc.constantFrom(-100, -1, 0, 1),
});

const money = fc.oneof(
  { arbitrary: fc.constantFrom(1, 3_000_000_000, 1_250_000_000), weight: 2 },
  { arbitrary: fc.nat(9_000_000_000), weight: 3 },
);
const signedMoney = fc.oneof(
  money,
  money.map((nano) => -nano),
);
const part = fc.oneof({ arbitrary: fc.constant(1000), weight: 2 }, fc.nat(1000));

const payments: fc.Arbitrary<OperationCommand> = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constant("pay" as const),
      nano: money,
      bonus: fc.boolean(),
      dies,
    }),
    weight: 36,
  },
  {
    arbitrary: fc.record({ do: fc.constant("refund" as const), pick, permille: part, dies }),
    weight: 22,
  },
  { arbitrary: fc.record({ do: fc.constant("failRefund" as const), pick, dies }), weight: 8 },
  { arbitrary: fc.record({ do: fc.constant("dispute" as const), pick, dies }), weight: 14 },
  {
    arbitrary: fc.record({ do: fc.constant("decide" as const), pick, isWon: fc.boolean(), dies }),
    weight: 14,
  },
  {
    arbitrary: fc.record({ do: fc.constant("adjust" as const), nano: signedMoney, dies }),
    weight: 10,
  },
  { arbitrary: fc.record({ do: fc.constant("forgive" as const), nano: money, dies }), weight: 8 },
  {
    arbitrary: fc.record({
      do: fc.constant("give" as const),
      nano: money,
      days: fc.constantFrom(1, 20, 90),
      dies,
    }),
    weight: 8,
  },
);

type Plain = "extend" | "sweep" | "forget" | "flush" | "rebuild" | "lose" | "expire" | "resend";

function plain<Name extends Plain>(name: Name) {
  return fc.constant({ do: name } as const);
}

function ofProcess<Name extends "renew" | "crash" | "evict" | "revoke" | "suspend" | "view">(
  name: Name,
) {
  return fc.record({ do: fc.constant(name), process });
}

function ofCall<Name extends "settle" | "stream" | "vanish">(name: Name) {
  return fc.record({ do: fc.constant(name), pick, permille });
}

const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: admit, weight: 360 },
  { arbitrary: ofCall("settle"), weight: 220 },
  { arbitrary: ofCall("stream"), weight: 60 },
  { arbitrary: ofCall("vanish"), weight: 25 },
  { arbitrary: plain("extend"), weight: 10 },
  { arbitrary: ofProcess("renew"), weight: 50 },
  { arbitrary: plain("sweep"), weight: 40 },
  { arbitrary: plain("forget"), weight: 15 },
  { arbitrary: fc.record({ do: fc.constant("clock" as const), ms: clockMs }), weight: 100 },
  { arbitrary: edge, weight: 12 },
  { arbitrary: payments, weight: 120 },
  { arbitrary: ofProcess("crash"), weight: 20 },
  { arbitrary: plain("flush"), weight: 20 },
  { arbitrary: ofProcess("evict"), weight: 15 },
  { arbitrary: plain("rebuild"), weight: 8 },
  { arbitrary: plain("lose"), weight: 3 },
  { arbitrary: plain("expire"), weight: 10 },
  { arbitrary: ofProcess("revoke"), weight: 2 },
  { arbitrary: ofProcess("suspend"), weight: 4 },
  { arbitrary: ofProcess("view"), weight: 10 },
  { arbitrary: plain("resend"), weight: 60 },
);

/** Runs of commands; the same seed gives the same runs. In one of four, time hardly passes. */
export function randomRuns(seed: number, runs: number, length: number): Run[] {
  const run = fc.array(command, { minLength: length, maxLength: length });
  const passes = ({ do: name }: Command) => ["clock", "edge", "vanish"].includes(name);
  return fc.sample(run, { seed, numRuns: runs }).map((commands, index) => ({
    kind: index,
    commands: index % 4 === 0 ? commands.filter((one) => !passes(one)) : commands,
  }));
}
