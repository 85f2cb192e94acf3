// What may happen to a wallet, as data: a run is a list of these, and the same list runs alike.

import fc from "fast-check";

export type Command =
  | {
      readonly do: "admit";
      readonly process: number;
      readonly key: number;
      readonly nano: number;
      readonly freeEligible: boolean;
      readonly stream: boolean;
      readonly tentative: boolean;
      readonly refusal: "none" | "invalid_json" | "insufficient_scope";
    }
  | { readonly do: "settle"; readonly pick: number; readonly permille: number }
  | { readonly do: "stream"; readonly pick: number; readonly permille: number }
  /** Streams a part, renews the lease, and is not heard of until the sweep has settled it. */
  | { readonly do: "vanish"; readonly pick: number; readonly permille: number }
  | { readonly do: "renew"; readonly process: number }
  | { readonly do: "crash"; readonly process: number }
  | { readonly do: "sweep" }
  | { readonly do: "clock"; readonly ms: number }
  | { readonly do: "edge"; readonly of: "month" | "free"; readonly ms: number }
  | { readonly do: "credit"; readonly dies: boolean }
  | { readonly do: "flush" }
  | { readonly do: "evict"; readonly process: number }
  | { readonly do: "rebuild" }
  | { readonly do: "lose" }
  | { readonly do: "expire" }
  | { readonly do: "revoke"; readonly process: number }
  | { readonly do: "view"; readonly process: number }
  | { readonly do: "resend" };

const process = fc.nat(1);
const pick = fc.nat(99);
const permille = fc.oneof(fc.constantFrom(0, 1000, 1300), fc.nat(1000));

const bound = fc.oneof(
  { arbitrary: fc.constantFrom(0, 1, 5_000_000_000, 300_000_000_000), weight: 1 },
  { arbitrary: fc.nat(2_000_000_000), weight: 5 },
  { arbitrary: fc.nat(9_000_000_000), weight: 2 },
);

const admit = fc.record({
  do: fc.constant("admit" as const),
  process,
  key: fc.oneof({ arbitrary: fc.constant(0), weight: 2 }, fc.nat(1)),
  nano: bound,
  freeEligible: fc.oneof({ arbitrary: fc.constant(true), weight: 3 }, fc.boolean()),
  stream: fc.boolean(),
  tentative: fc.oneof({ arbitrary: fc.constant(false), weight: 2 }, fc.boolean()),
  refusal: fc.oneof(
    { arbitrary: fc.constant("none" as const), weight: 15 },
    fc.constantFrom("invalid_json" as const, "insufficient_scope" as const),
  ),
});

const clockMs = fc.oneof(
  { arbitrary: fc.nat(1_500), weight: 6 },
  { arbitrary: fc.constantFrom(30_000, 59_999, 60_000, 61_000), weight: 4 },
  { arbitrary: fc.constantFrom(-1_000, -20_000, -7_200_000), weight: 2 },
  { arbitrary: fc.constantFrom(86_400_000, 900_000), weight: 1 },
);

function plain<Name extends "sweep" | "flush" | "rebuild" | "lose" | "expire" | "resend">(
  name: Name,
) {
  return fc.constant({ do: name } as const);
}

function ofProcess<Name extends "renew" | "crash" | "evict" | "revoke" | "view">(name: Name) {
  return fc.record({ do: fc.constant(name), process });
}

const command: fc.Arbitrary<Command> = fc.oneof(
  { arbitrary: admit, weight: 360 },
  { arbitrary: fc.record({ do: fc.constant("settle" as const), pick, permille }), weight: 220 },
  { arbitrary: fc.record({ do: fc.constant("stream" as const), pick, permille }), weight: 60 },
  { arbitrary: fc.record({ do: fc.constant("vanish" as const), pick, permille }), weight: 25 },
  { arbitrary: ofProcess("renew"), weight: 50 },
  { arbitrary: plain("sweep"), weight: 40 },
  { arbitrary: fc.record({ do: fc.constant("clock" as const), ms: clockMs }), weight: 100 },
  {
    arbitrary: fc.record({
      do: fc.constant("edge" as const),
      of: fc.constantFrom("month" as const, "month" as const, "free" as const),
      ms: fc.constantFrom(-100, -1, 0, 1),
    }),
    weight: 12,
  },
  {
    arbitrary: fc.record({ do: fc.constant("credit" as const), dies: fc.boolean() }),
    weight: 40,
  },
  { arbitrary: ofProcess("crash"), weight: 20 },
  { arbitrary: plain("flush"), weight: 20 },
  { arbitrary: ofProcess("evict"), weight: 15 },
  { arbitrary: plain("rebuild"), weight: 5 },
  { arbitrary: plain("lose"), weight: 3 },
  { arbitrary: plain("expire"), weight: 10 },
  { arbitrary: ofProcess("revoke"), weight: 2 },
  { arbitrary: ofProcess("view"), weight: 10 },
  { arbitrary: plain("resend"), weight: 60 },
);

/** Runs of commands; the same seed gives the same runs. In one of four time hardly passes. */
export function randomRuns(seed: number, runs: number, length: number): Command[][] {
  const run = fc.array(command, { minLength: length, maxLength: length });
  const passes = ({ do: name }: Command) => ["clock", "edge", "vanish"].includes(name);
  return fc
    .sample(run, { seed, numRuns: runs })
    .map((commands, index) => (index % 4 === 0 ? commands.filter((c) => !passes(c)) : commands));
}
