// `npm run overspend`: tries to spend more than there is, on any gateway (docs/overspend.md).

import { parseArgs } from "node:util";
import { type NanoUsd, toDollars, usd } from "../src/core/money/money.ts";
import { thrownMessage } from "../src/core/text/error-message.ts";
import { GATEWAYS, type GatewayName, type SpendSource } from "./overspend/gateways.ts";
import { MODEL, startModelServer } from "./overspend/model-server.ts";
import { type NamedResult, runOwnTrials } from "./overspend/own-run.ts";
import { faultsOf, runTrial, type Trial } from "./overspend/trial.ts";

const NAMES = Object.keys(GATEWAYS) as GatewayName[];

const HELP = `npm run overspend -- --url URL --key KEY [options]
npm run overspend -- --serve PORT
npm run overspend -- --own

Sends parallel calls of known prices on one balance of a gateway that speaks OpenAI's protocol, and
compares what was answered, what was charged and what was there. docs/overspend.md explains it.

  --url URL          the base URL with /v1; twice for two addresses of one gateway
  --key KEY          a key that may spend exactly the balance
  --gateway NAME     reads what was spent: ${NAMES.join(", ")}
  --spend-url URL    where it is read, if not where a key asks about itself
  --spend-token T    the token for that, if not the key
  --spend-wait S     seconds to wait before it is read; by default those of the gateway
  --balance USD      what the key may spend; 1.00
  --calls N          parallel calls; 200
  --cents LIST       prices in cents, in turn; 10
  --model ID         the model; ${MODEL}
  --user NAME        the customer whom each call names as its user
  --kill COMMAND     run at the tenth whole answer: kills what serves the first URL
  --json             the result as JSON
  --serve PORT       starts the model server for gateways under test, until Ctrl+C
  --own              starts Farebox with two API processes, and runs every trial on it

The exit code is 0 if no more was answered than paid for, and all of it was charged; else 1.
`;

const OPTIONS = {
  help: { type: "boolean" },
  url: { type: "string", multiple: true },
  key: { type: "string" },
  gateway: { type: "string" },
  "spend-url": { type: "string" },
  "spend-token": { type: "string" },
  "spend-wait": { type: "string" },
  balance: { type: "string" },
  calls: { type: "string" },
  cents: { type: "string" },
  model: { type: "string" },
  user: { type: "string" },
  kill: { type: "string" },
  json: { type: "boolean" },
  serve: { type: "string" },
  own: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parsed>;

function parsed() {
  return parseArgs({ options: OPTIONS }).values;
}

function whole(name: string, text: string, max: number): number {
  const count = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) throw new Error(`--${name} must be from 1 to ${max}: ${text}`);
  return count;
}

function callsOf({ calls = "200" }: Values): number {
  return whole("calls", calls, 10_000);
}

function trialOf(values: Values): Trial {
  const { url: given = [], key = "", balance = "1.00", cents = "10", kill, model } = values;
  if (given.length === 0 || key === "") throw new Error("--url and --key are required");
  const urls = given.map((one) => new URL(one).href.replace(/\/+$/, ""));
  return {
    urls,
    key,
    calls: callsOf(values),
    cents: cents.split(",").map((one) => whole("cents", one, 100_000)),
    user: values.user ?? null,
    ...(model !== undefined && { model }),
    balance: usd(balance),
    spend: spendOf(values, urls[0] ?? ""),
    kill: kill === undefined ? null : () => runCommand(kill),
  };
}

function spendOf(values: Values, url: string): SpendSource | null {
  const { gateway: name, key = "", "spend-wait": wait } = values;
  if (name === undefined) return null;
  const gateway = NAMES.find((one) => one === name);
  if (gateway === undefined) throw new Error(`--gateway must be one of ${NAMES.join(", ")}`);
  return {
    gateway,
    url,
    spendUrl: values["spend-url"] ?? null,
    token: values["spend-token"] ?? key,
    lateMs: wait === undefined ? null : whole("spend-wait", wait, 3_600) * 1_000,
  };
}

async function runCommand(command: string): Promise<void> {
  const child = Bun.spawn(["sh", "-c", command], { stdout: "inherit", stderr: "inherit" });
  if ((await child.exited) !== 0) throw new Error(`--kill failed: ${command}`);
}

/** The lines of the table that docs/overspend.md shows. */
function tableOf(results: readonly NamedResult[]): string {
  const rows = results.map((result) => {
    const { name, answered, answeredWorth, spent, refused, lost } = result;
    const refusals = Object.entries(refused).map(([code, count]) => `${count} × ${code}`);
    const charged = spent === null ? "not read" : toDollars(spent);
    const cells = [answered.length, toDollars(answeredWorth), charged, refusals.join(", "), lost];
    return `| ${[name, ...cells, faultsOf(result).join("; ") || "holds"].join(" | ")} |`;
  });
  const head = ["trial", "answers", "worth", "charged", "refused", "no answer", "verdict"];
  return [`| ${head.join(" | ")} |`, `|${" --- |".repeat(head.length)}`, ...rows].join("\n");
}

/** A number of nano-dollars is no JSON number. */
function plain(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? toDollars(value as NanoUsd) : value;
}

async function main(): Promise<boolean> {
  const values = parsed();
  if (values.help === true) {
    console.log(HELP);
    return true;
  }
  if (values.serve !== undefined) {
    const { baseUrl } = startModelServer(whole("serve", values.serve, 65_535));
    console.log(`The model ${MODEL} is served at ${baseUrl}, until Ctrl+C.`);
    await new Promise(() => {});
  }
  const say = (line: string) => console.error(`- ${line}`);
  const results =
    values.own === true
      ? await runOwnTrials(callsOf(values), say)
      : [{ name: `calls of ${values.cents ?? 10} cents`, ...(await runTrial(trialOf(values))) }];
  const isFaultless = results.every((result) => faultsOf(result).length === 0);
  console.log(values.json === true ? JSON.stringify(results, plain, 2) : tableOf(results));
  return isFaultless;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(thrownMessage(error));
  process.exit(2);
}
