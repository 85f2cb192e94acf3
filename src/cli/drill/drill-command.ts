// `farebox drill`: the commands. The drill itself is in drill.ts.

import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import project from "../../../package.json";
import { findAccount } from "../../accounts/administration.ts";
import { ApiError } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import { usd } from "../../core/money/money.ts";
import { receiptKeyOf } from "../../core/receipts/receipt-keys.ts";
import { issuerOf } from "../../readings/signed/signed-receipts.ts";
import { type Answer, type Command, type Input, UsageError } from "../command.ts";
import { verifyCommand } from "../receipt-commands.ts";
import type { Stores } from "../stores.ts";
import { idOf, positiveAmountOf } from "../values.ts";
import { type DrillTerms, planOf, runDrill } from "./drill.ts";
import { type DrillClaims, reportText, signReport, verifyReport } from "./drill-report.ts";

/** A worker looks for dead processes every few seconds, once their lease of a minute has ended. */
const WAIT_MS = 180_000;
/** A command that kills a process is done at once. */
const KILL_MS = 30_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const CALLS = { default: 200, max: 2_000 } as const;
const MAX = usd("0.5");

const drill: Command = {
  name: "drill",
  positionals: [],
  summary: "Try races, a killed process, a forged event and a backup on this installation",
  options: {
    url: { value: "URL,…", help: "its addresses, such as http://127.0.0.1:8080", required: true },
    model: { value: "ID", help: "the model that is called (the cheapest)" },
    calls: { value: "N", help: `the calls at the same time (${CALLS.default})` },
    kill: { value: "COMMAND", help: "runs at the tenth answer, and kills what serves an address" },
    backup: { value: "FOLDER", help: "writes a backup there, and checks its files" },
    report: { value: "FILE", help: "where the signed report goes, besides the output" },
    "dry-run": { value: null, help: "only says what it would do" },
    yes: { value: null, help: "does it" },
  },
  prepare(input) {
    const { values } = input;
    const terms = termsOf(input);
    const isDry = values.has("dry-run");
    if (isDry === values.has("yes")) {
      throw new UsageError("'drill' needs either --dry-run, to see what it does, or --yes");
    }
    const file = values.get("report");
    return async (stores): Promise<Answer> => {
      const plan = planOf(terms);
      if (isDry) return { json: { plan: plan.split("\n") }, text: plan };
      for (const line of plan.split("\n")) stores.warn(line);
      const { now } = stores.administration;
      const beganMs = now();
      const { account, steps } = await untilSignalled(stores, (stop) =>
        runDrill(stores, { ...terms, stop }),
      );
      const hasFailed = steps.some(({ verdict }) => verdict === "failed");
      const endMs = now();
      const claims: DrillClaims = {
        iss: issuerOf(stores.consoleOrigin),
        sub: account,
        iat: Math.floor(endMs / 1_000),
        drill: {
          release: project.version,
          addresses: terms.addresses,
          began_at: new Date(beganMs).toISOString(),
          ended_at: new Date(endMs).toISOString(),
          verdict: hasFailed ? "failed" : "passed",
          steps,
        },
      };
      const jws = await signReport(receiptKeyOf(stores.receiptSecrets[0]), claims);
      const json = { object: "drill", jws, claims };
      if (file !== undefined) await writeFile(resolve(file), `${JSON.stringify(json)}\n`);
      return { json, text: reportText(claims), failed: hasFailed };
    };
  },
};

/** Runs a drill that signals stop. More signals change nothing: a terminal may send two at once. */
async function untilSignalled<T>(
  { warn }: Pick<Stores, "warn">,
  run: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const stop = (signal: string) => {
    if (stopping.signal.aborted) return;
    warn(`${signal}: the drill stops. Closing the scratch account may take some minutes.`);
    stopping.abort(new Error(`The drill was stopped by ${signal}`));
  };
  for (const signal of SIGNALS) process.on(signal, stop);
  try {
    return await run(stopping.signal);
  } finally {
    for (const signal of SIGNALS) process.off(signal, stop);
  }
}

function termsOf({ values }: Input): Omit<DrillTerms, "stop"> {
  const calls = values.get("calls") ?? String(CALLS.default);
  const count = /^\d{1,4}$/.test(calls) ? Number(calls) : 0;
  if (count < 1 || count > CALLS.max) {
    throw new UsageError(`--calls must be from 1 to ${CALLS.max}, but is '${calls}'`);
  }
  return {
    addresses: addressesOf(values.get("url") ?? ""),
    model: values.get("model") ?? null,
    calls: count,
    kill: values.get("kill") ?? null,
    backup: values.has("backup") ? resolve(values.get("backup") ?? "") : null,
    max: MAX,
    waitMs: WAIT_MS,
    killMs: KILL_MS,
  };
}

function addressesOf(text: string): readonly string[] {
  return text.split(",").map((one) => {
    const url = URL.parse(one.trim());
    if (url !== null && /^https?:$/.test(url.protocol)) return url.origin;
    throw new UsageError(`--url has '${one}', which is no address such as http://127.0.0.1:8080`);
  });
}

/** The balance pays for it, and it is no stream. */
const PLAIN = { freeEligible: false, stream: false } as const;

/** The part of a drill that dies. An operator never needs it. */
const hold: Command = {
  name: "drill hold",
  isInner: true,
  positionals: ["ACCOUNT", "KEY"],
  summary: "Hold an amount and wait to be killed: a drill starts this, and kills it",
  options: { usd: { value: "N", help: "the amount in USD", required: true } },
  prepare(input) {
    const id = idOf(input, "account");
    const keyId = idOf(input, "key", 1);
    const bound = positiveAmountOf(input, "usd");
    return async (stores): Promise<Answer> => {
      const { bucket } = await findAccount(stores.administration, id);
      const decision = await stores.actors.of(id, bucket).admit({
        call: {
          requestId: newId("request", stores.random),
          identity: { keyId },
          endpoint: "farebox drill",
          clientIp: "127.0.0.1",
          country: null,
          ipHash: "0000000000000000",
          run: null,
          endUser: null,
          markers: null,
          ahead: null,
        },
        terms: { scope: "models", service: "models", model: null, bound, ...PLAIN },
        elapsedMs: 0,
      });
      if (decision.verdict !== "admitted") {
        throw decision.verdict === "refused"
          ? decision.error
          : new ApiError("insufficient_credits", "The balance does not cover the amount");
      }
      process.stdout.write("held\n");
      await Bun.sleep(WAIT_MS);
      return { json: { held: true }, text: "Nobody killed this process." };
    };
  },
};

const verify = verifyCommand({
  name: "drill verify",
  summary: "Check the signature of a drill's report, offline, and print it",
  async verify(jws, keys) {
    const claims = await verifyReport(jws, keys);
    return { claims, text: `Valid.\n${reportText(claims)}` };
  },
});

export const drillCommands: readonly Command[] = [hold, verify, drill];
