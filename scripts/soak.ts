// `bun run soak`: runs Farebox under a steady load and checks that memory and stores do not grow.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { soak } from "../test/product/soak/soak.ts";
import { anySeed } from "../test/support/random.ts";

/** In a shorter run, warming up would look like growth, so it only shows that all works. */
const JUDGED_MINUTES_MIN = 20;

const HELP = `bun run soak [options]

Starts Farebox on stores of its own, sends it calls of every service, and watches what its processes
and stores use. It ends with a table, with 0 if nothing has grown and the books are right, and with
1 otherwise.

  --minutes N    60 unless given; under ${JUDGED_MINUTES_MIN} nothing is judged but the books
  --rate N       calls a second; 200 unless given
  --seed N       the seed of an earlier run
  --folder PATH  where the samples and their plot go; a new temporary folder unless given
`;

function number(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+(?:\.\d+)?$/.test(text) && value > 0) return value;
  throw new Error(`--${name} must be a number above 0, but is '${text}'`);
}

async function main(): Promise<boolean> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    options: { help: { type: "boolean" }, minutes: text, rate: text, seed: text, folder: text },
  });
  if (values.help === true) {
    console.log(HELP);
    return true;
  }
  const minutes = number("minutes", values.minutes, 60);
  return await soak({
    minutes,
    rate: number("rate", values.rate, 200),
    seed: number("seed", values.seed, anySeed()),
    folder: values.folder ?? mkdtempSync(join(tmpdir(), "farebox-soak-")),
    isJudged: minutes >= JUDGED_MINUTES_MIN,
    say: console.log,
  });
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(error);
  process.exit(1);
}
