// Reads the command line of `npm run bench`.

import { parseArgs } from "node:util";

export const USAGE = `Usage: npm run bench -- [--quick] [--json FILE]
                     [--against REF | --accounts | --doors | --masters | --parts | --refusals]

  --quick        a rough answer in three minutes of an idle machine instead of a good one in ten
  --json FILE    also writes every round to FILE
  --against REF  compares this version with that of a git ref, round by round
  --accounts     what a call costs with 1, 10,000 and 1,000,000 accounts in Redis, and two
                 api processes; 100,000 with --quick
  --doors        what a call and a chunk cost by each door, to a chat completion
  --masters      what a call costs on one Redis and on a Cluster of three masters
  --parts        what a call costs more with limits, budgets, a cap, a run, a key, a receipt
  --refusals     what refused requests cost all others

Without --against, --accounts, --masters and --parts the exit code is 1 if an aim is missed.`;

/** The length of a run. Longer runs give more reliable figures. */
export interface RunLength {
  readonly rounds: number;
  readonly roundMs: number;
  readonly streamRounds: number;
  readonly streamRoundMs: number;
  readonly warmUpMs: number;
  /** Rounds of the mixed profile. */
  readonly mixedRounds: number;
  readonly mixedRoundMs: number;
  readonly heldStreams: number;
  /** Processes whose memory is measured while they hold streams. */
  readonly heldRuns: number;
  /** The number of journal entries of a flush. */
  readonly entries: number;
}

export const FULL: RunLength = {
  rounds: 7,
  roundMs: 5_000,
  streamRounds: 5,
  streamRoundMs: 5_000,
  warmUpMs: 10_000,
  mixedRounds: 5,
  mixedRoundMs: 5_000,
  heldStreams: 1_000,
  heldRuns: 5,
  entries: 50_000,
};
export const QUICK: RunLength = {
  rounds: 2,
  roundMs: 2_000,
  streamRounds: 2,
  streamRoundMs: 2_000,
  warmUpMs: 2_500,
  mixedRounds: 2,
  mixedRoundMs: 3_000,
  heldStreams: 1_000,
  heldRuns: 1,
  entries: 20_000,
};
/** Two versions differ less than two programs, so a comparison needs more, shorter rounds. */
export const QUICK_COMPARISON: RunLength = { ...QUICK, rounds: 5, streamRounds: 5 };

const FULL_ACCOUNTS = [1, 10_000, 1_000_000];
const QUICK_ACCOUNTS = [1, 10_000, 100_000];

export type BenchOptions =
  | { readonly mode: "help" }
  | {
      readonly mode: "peers" | "doors" | "masters" | "parts";
      readonly length: RunLength;
      readonly jsonFile: string | null;
    }
  | { readonly mode: "refusals"; readonly isQuick: boolean; readonly jsonFile: string | null }
  | {
      readonly mode: "accounts";
      readonly counts: readonly number[];
      readonly length: RunLength;
      readonly jsonFile: string | null;
    }
  | {
      readonly mode: "against";
      readonly ref: string;
      readonly length: RunLength;
      readonly jsonFile: string | null;
    };

/** Reads the arguments. Throws an Error that names the wrong argument. */
export function readOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "string" },
      against: { type: "string" },
      accounts: { type: "boolean", default: false },
      doors: { type: "boolean", default: false },
      masters: { type: "boolean", default: false },
      parts: { type: "boolean", default: false },
      refusals: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return { mode: "help" };
  const jsonFile = values.json ?? null;
  const length = values.quick ? QUICK : FULL;
  const { against: ref, accounts, doors, masters, parts, refusals } = values;
  const modes = [ref !== undefined, accounts, doors, masters, parts, refusals];
  if (modes.filter((isGiven) => isGiven).length > 1) {
    throw new Error(
      "--against, --accounts, --doors, --masters, --parts and --refusals cannot be used together",
    );
  }
  if (accounts) {
    const counts = values.quick ? QUICK_ACCOUNTS : FULL_ACCOUNTS;
    return { mode: "accounts", counts, length, jsonFile };
  }
  if (refusals) return { mode: "refusals", isQuick: values.quick, jsonFile };
  if (doors) return { mode: "doors", length, jsonFile };
  if (parts) return { mode: "parts", length, jsonFile };
  if (ref === undefined) return { mode: masters ? "masters" : "peers", length, jsonFile };
  // Git would read a leading dash as an option.
  if (ref === "" || ref.startsWith("-"))
    throw new Error(`--against must be a git ref, but is '${ref}'`);
  return { mode: "against", ref, length: values.quick ? QUICK_COMPARISON : FULL, jsonFile };
}
