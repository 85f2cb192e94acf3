// `bun run chaos [--quick]`: kills processes and stores under load, injects faults, and audits the
// books after each kind.

import { parseArgs } from "node:util";
import { KINDS, type KindName, runChaos } from "../test/product/chaos/kinds.ts";

const NAMES = Object.keys(KINDS) as KindName[];

const HELP = `bun run chaos [options]

Kills API processes, Redis and Postgres under load, cuts the append-only file of Redis, sends every
endpoint requests with faults in them, and proves after each kind that the audit is clean and
nothing acknowledged is lost.

  --quick          as little as CI runs
  --only KIND      one of ${NAMES.join(", ")}; several joined with commas
  --seed N         the seed that a failure named
${NAMES.map(optionLine).join("\n")}
`;

function optionLine(name: KindName): string {
  const { counts, quick, long } = KINDS[name];
  const option = `  --${name} N`.padEnd(19);
  return `${option}${counts}; ${long}, or ${quick} with --quick`;
}

function whole(name: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`--${name} must be a whole number, but is '${text}'`);
}

async function main(): Promise<void> {
  const number = { type: "string" } as const;
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      quick: { type: "boolean" },
      only: { type: "string" },
      seed: number,
      gateway: number,
      keyed: number,
      runs: number,
      streams: number,
      redis: number,
      cuts: number,
      mail: number,
      webhooks: number,
      pause: number,
      postgres: number,
      failover: number,
      cluster: number,
      sentinel: number,
      restore: number,
      fuzz: number,
      console: number,
    },
  });
  if (values.help === true) return console.log(HELP);
  const wanted = values.only?.split(",") ?? NAMES;
  const unknown = wanted.find((name) => !NAMES.some((known) => known === name));
  if (unknown !== undefined) throw new Error(`--only: there is no kind '${unknown}'`);
  const seed = values.seed === undefined ? {} : { seed: whole("seed", values.seed) };
  for (const name of NAMES.filter((kind) => wanted.includes(kind))) {
    const { quick, long } = KINDS[name];
    const given = values[name];
    const usual = values.quick === true ? quick : long;
    await runChaos(name, given === undefined ? usual : whole(name, given), seed);
  }
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
