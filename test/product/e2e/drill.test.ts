// Tests `farebox drill` on a started product, and with faults that it must find.

import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { readAccountSummary } from "../../../src/accounts/account-summary.ts";
import { findAccount } from "../../../src/accounts/administration.ts";
import { type DrillTerms, runDrill } from "../../../src/cli/drill/drill.ts";
import type { DrillClaims, DrillStep, StepVerdict } from "../../../src/cli/drill/drill-report.ts";
import { ScratchAccount } from "../../../src/cli/drill/scratch-account.ts";
import { usd } from "../../../src/core/money/money.ts";
import { eventually } from "../../support/eventually.ts";
import { startProduct } from "../../support/product/product.ts";
import { cliProcess, jsonOf, startCliProcess } from "../../support/product/run-cli.ts";
import { atEnd, shared } from "../../support/shared.ts";

const product = await shared(startProduct({ apis: 2, models: [{ id: "ok" }] }));
const operator = { ...product.operator, environment: product.env };
const folder = temporaryFolder("drill");
atEnd(folder.remove);
const addresses = product.apis.map(({ url }) => url);

const cli = (...args: string[]) => cliProcess(args, { env: product.env });

/** Each step with its verdict. */
const verdictsOf = (steps: readonly DrillStep[]) =>
  Object.fromEntries(steps.map(({ name, verdict }) => [name, verdict]));

const STEPS: Readonly<Record<string, StepVerdict>> = {
  "Parallel calls on a small balance": "passed",
  "The command of --kill": "skipped",
  "A killed process": "passed",
  "A forged event of payment": "passed",
  "A checked backup": "passed",
  "The books of the scratch account": "passed",
  "The end of the scratch account": "passed",
};

const terms: DrillTerms = {
  addresses,
  model: "ok",
  calls: 20,
  kill: null,
  backup: null,
  max: usd("0.5"),
  waitMs: 1,
  killMs: 60_000,
  stop: new AbortController().signal,
};

/** The words of a step. */
const wordsOf = (steps: readonly DrillStep[], name: string) =>
  steps.find((step) => step.name === name)?.words;

async function countAccounts(): Promise<number> {
  const [row] = await operator.database.sql`SELECT count(*)::int AS count FROM accounts`;
  return Number(row?.count);
}

test("a sound installation passes, and its report is verified without it", async () => {
  const before = await countAccounts();
  const [report, backup] = [join(folder.path, "report.json"), join(folder.path, "backup")];
  const url = addresses.join(",");
  const files = ["--backup", backup, "--report", report];
  const outcome = await cli("drill", "--yes", "--url", url, "--model", "ok", "--json", ...files);
  expect(outcome.err).toContain("touches no other");
  const { claims } = jsonOf(outcome) as { claims: DrillClaims };
  expect(verdictsOf(claims.drill.steps)).toEqual(STEPS);
  expect(claims.drill.verdict).toBe("passed");
  const [race] = claims.drill.steps;
  expect(race?.words).toMatch(/200 calls of ok .* insufficient_credits/);
  expect(await countAccounts()).toBe(before + 1);
  const account = await findAccount(operator.administration, claims.sub);
  expect(account.state).toBe("closed");
  const keys = join(folder.path, "keys.json");
  const jwks = await fetch(`${addresses[0]}/.well-known/jwks.json`);
  await writeFile(keys, await jwks.text());
  const verified = await cli("drill", "verify", report, "--keys", keys);
  expect([verified.code, verified.out.startsWith("Valid.")]).toEqual([0, true]);
  const { jws } = JSON.parse(await readFile(report, "utf8")) as { jws: string };
  const [head, , signature] = jws.split(".");
  const better = Buffer.from(JSON.stringify({ ...claims, iss: "another" })).toString("base64url");
  await writeFile(report, `${head}.${better}.${signature}`);
  const forged = await cli("drill", "verify", report, "--keys", keys);
  expect([forged.code, forged.err.startsWith("Not valid")]).toEqual([1, true]);
  // A report is no receipt.
  await writeFile(report, jws);
  expect((await cli("receipt", "verify", report, "--keys", keys)).code).toBe(1);
}, 600_000);

test("a gateway that answers without a charge, and takes any event, fails the drill", async () => {
  // Stands before a sound process, and breaks the replies that it passes on.
  await using broken = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/v1/chat/completions") {
        return Response.json({ choices: [] }, { headers: { "x-svc-cost-usd": "0.01" } });
      }
      if (pathname.startsWith("/webhooks/")) return Response.json({ received: true });
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = request.method === "GET" ? null : await request.text();
      return await fetch(`${addresses[0]}${pathname}`, { method: request.method, headers, body });
    },
  });
  const address = `http://127.0.0.1:${broken.port}`;
  const { account, steps } = await runDrill(operator, { ...terms, addresses: [address] });
  expect(verdictsOf(steps)).toEqual({
    ...STEPS,
    "Parallel calls on a small balance": "failed",
    // Nobody waited for the workers, so the hold is still there.
    "A killed process": "failed",
    "A forged event of payment": "failed",
    "The end of the scratch account": "failed",
  });
  const words = steps.map((step) => step.words).join("\n");
  expect(words).toContain("Answers cost $0.2; $0 were charged.");
  expect(words).toContain("took a forged event");
  expect(words).toContain("Does one run?");
  expect(words).toContain(account);
  // A hold is still open, so the account cannot be closed; but nobody can call any more.
  await expectKeysRevoked(account);
}, 600_000);

test("books that do not agree fail the drill; the tenth answer runs the command", async () => {
  const other = await product.account({ paid: "1" });
  const { sql } = operator.database;
  await sql`INSERT INTO budget_spend (account, budget, start, spent)
    VALUES (${other.row.number}, 7, 5, 9)`;
  const killed = join(folder.path, "killed");
  const drilled = runDrill(operator, { ...terms, calls: 100, kill: `touch ${killed}` });
  const { steps } = await drilled.finally(async () => {
    await sql`DELETE FROM budget_spend WHERE account = ${other.row.number}`;
  });
  const verdicts = verdictsOf(steps);
  expect(verdicts["A checked backup"]).toBe("failed");
  expect(verdicts["The books of the scratch account"]).toBe("passed");
  expect(verdicts["Parallel calls on a small balance"]).toBe("passed");
  expect(verdicts["The command of --kill"]).toBe("passed");
  expect(await Bun.file(killed).exists()).toBe(true);
}, 600_000);

test.each([
  ["fails", "exit 3", {}, "failed", "It ended with the exit code 3: exit 3"],
  ["never ends", "exec sleep 900", { killMs: 1 }, "failed", "was ended by SIGKILL"],
  ["had no tenth answer", "true", { calls: 9 }, "skipped", "fewer than 10 calls were answered"],
] as const)(
  "a command that %s is in the report",
  async (_, kill, more, verdict, words) => {
    const { steps } = await runDrill(operator, { ...terms, ...more, kill });
    expect(verdictsOf(steps)).toMatchObject({
      "Parallel calls on a small balance": "passed",
      "The command of --kill": verdict,
      "A forged event of payment": "passed",
    });
    expect(wordsOf(steps, "The command of --kill")).toContain(words);
  },
  600_000,
);

test("charges that no lost call explains fail the drill", async () => {
  let calls = 0;
  await using broken = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("host");
      const body = request.method === "GET" ? null : await request.text();
      const url = `${addresses[0]}${pathname}`;
      const reply = await fetch(url, { method: request.method, headers, body });
      const text = await reply.text();
      if (!reply.ok || !pathname.startsWith("/v1/chat")) {
        return new Response(text, { status: reply.status });
      }
      calls += 1;
      // One answer is lost; the others say that they cost nothing.
      return new Response(calls === 1 ? "{" : text, { headers: { "x-svc-cost-usd": "0" } });
    },
  });
  const address = `http://127.0.0.1:${broken.port}`;
  const { steps } = await runDrill(operator, { ...terms, addresses: [address] });
  const [race] = steps;
  expect(race?.verdict).toBe("failed");
  expect(race?.words).toContain("answers say $0, and 1 calls without an answer may cost");
}, 600_000);

test("a drill that is stopped revokes its key and closes its account", async () => {
  const begun = join(folder.path, "begun");
  const url = addresses.join(",");
  const kill = `touch ${begun}; exec sleep 900`;
  const args = ["drill", "--yes", "--url", url, "--model", "ok", "--kill", kill, "--json"];
  const child = startCliProcess(args, { env: product.env });
  await eventually("the command runs", () => Bun.file(begun).exists());
  // As a terminal and the launcher both do.
  child.kill("SIGINT");
  child.kill("SIGINT");
  const [out, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  expect(code).toBe(1);
  const { claims } = JSON.parse(out) as { claims: DrillClaims };
  expect(verdictsOf(claims.drill.steps)).toMatchObject({
    "A killed process": "skipped",
    "The end of the scratch account": "passed",
  });
  await expectLeftNothing(claims.sub);
}, 600_000);

test("an account that gets no key is named and closed", async () => {
  const createKey = () => Promise.reject(new Error("No key today"));
  const said: string[] = [];
  const warn = (line: string) => said.push(line);
  const stores = { ...operatorWith({ createKey }), warn };
  await expect(runDrill(stores, terms)).rejects.toThrow("No key today");
  const [, id = ""] = /Scratch account (acct_\w+)/.exec(said.join("\n")) ?? [];
  await expectLeftNothing(id);
});

test("the key is revoked and the account closed, also if its money cannot be taken", async () => {
  let isAway = false;
  const { accounts } = operator.administration;
  const adjust = async (...given: Parameters<typeof accounts.adjust>) => {
    if (isAway) throw new Error("No money today");
    return await accounts.adjust(...given);
  };
  const account = await ScratchAccount.open(operatorWith({ adjust }));
  await account.setBalance(usd("0.01"));
  isAway = true;
  await expect(account.close(1)).rejects.toThrow("No money today");
  await expectClosed(account.id);
});

/** The operator's stores, in which something goes wrong with accounts. */
function operatorWith(broken: object): typeof operator {
  const { administration } = operator;
  const accounts = Object.assign(Object.create(administration.accounts), broken);
  return { ...operator, administration: { ...administration, accounts } };
}

async function expectKeysRevoked(id: string): Promise<void> {
  const { number } = await findAccount(operator.administration, id);
  const keys = await operator.database.sql`
    SELECT FROM keys WHERE account = ${number} AND revoked_at IS NULL`;
  expect(keys).toHaveLength(0);
}

async function expectClosed(id: string): Promise<void> {
  expect((await findAccount(operator.administration, id)).state).toBe("closed");
  await expectKeysRevoked(id);
}

async function expectLeftNothing(id: string): Promise<void> {
  await expectClosed(id);
  const account = await findAccount(operator.administration, id);
  const { balances } = await readAccountSummary(operator.actors, account);
  expect([balances.paid, balances.heldPaid]).toEqual([usd("0"), usd("0")]);
}

test("without a yes nothing is done, and a dry run lists the steps", async () => {
  const before = await countAccounts();
  const url = addresses[0] ?? "";
  const unsaid = await cli("drill", "--url", url);
  expect([unsaid.code, unsaid.err.includes("--yes")]).toEqual([2, true]);
  const dry = await cli("drill", "--url", url, "--dry-run");
  expect([dry.code, dry.out.includes("scratch account")]).toEqual([0, true]);
  expect((await cli("--help")).out).not.toContain("drill hold");
  for (const wrong of [
    ["--url", "ftp://x", "--yes"],
    ["--url", url, "--yes", "--calls", "0"],
  ]) {
    expect((await cli("drill", ...wrong)).code).toBe(2);
  }
  expect(await countAccounts()).toBe(before);
});
