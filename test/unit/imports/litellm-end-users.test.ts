// Tests that an import brings the budgets of a LiteLLM's end users to the one account that their
// calls will come from, and never to several.

import { expect, test } from "bun:test";
import { jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openImportLab } from "./import-lab.ts";
import { openLiteLlm } from "./litellm-tables.ts";

const lab = await shared(openImportLab());
const url = await lab.emptyDatabase();
const litellm = await shared(openLiteLlm(url));
await litellm.add(
  "BudgetTable",
  { budget_id: "day", max_budget: 2, budget_duration: "1d" },
  { budget_id: "month", max_budget: 20, budget_duration: "30d" },
  { budget_id: "total", max_budget: 5 },
  { budget_id: "quarter", max_budget: 9, budget_duration: "90d" },
  { budget_id: "rates", rpm_limit: 7 },
);
await litellm.add(
  "TeamTable",
  { team_id: "t1", team_alias: "shop", max_budget: 100 },
  { team_id: "t2", team_alias: "lab", max_budget: 10 },
);
await litellm.add(
  "EndUserTable",
  { user_id: "by day", budget_id: "day", spend: 1.5 },
  { user_id: "by month", budget_id: "month", spend: 30 },
  { user_id: "of all time", budget_id: "total", spend: 1.25 },
  { user_id: "spent", budget_id: "total", spend: 7 },
  { user_id: "by quarter", budget_id: "quarter", spend: 1 },
  { user_id: "blocked", blocked: true },
  { user_id: "without an amount", budget_id: "rates" },
  { user_id: "x".repeat(257), budget_id: "day" },
  { user_id: "without a budget" },
);

function run(...more: readonly string[]) {
  return lab.cli("import", "litellm", "--from", url, "--out", lab.folder, "--json", ...more);
}

const aboutEndUsers = ({ notes }: { readonly notes: readonly string[] }) =>
  notes.filter((note) => note.startsWith("end user "));

test("with several accounts, no end user gets a budget unless one account is named", async () => {
  const dry = jsonOf(await run("--dry-run"));
  expect([dry.accounts_created, dry.end_user_budgets]).toEqual([2, 0]);
  const notes = aboutEndUsers(dry);
  expect(notes).toHaveLength(8);
  expect(notes).toContain(
    "end user by day: its budget of $2.00 is not carried over: name the account that its calls " +
      "will come from with --end-users",
  );
  const wrong = await run("--dry-run", "--end-users", "team:t9");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining("but is 'team:t9'")]);
});

test("the named account gets them by their spans; a second import changes nothing", async () => {
  const first = jsonOf(await run("--end-users", "team:t1"));
  expect(first).toMatchObject({ accounts_created: 2, end_user_budgets: 6 });
  expect(aboutEndUsers(first)).toEqual([
    "end user blocked: blocked there; its budget of all time is $0.00 here",
    "end user by quarter: its budget was $9.00 in every 90d; here it is $8.00 in all",
    "end user without an amount: its budget is not carried over: it has no amount",
    `end user ${"x".repeat(257)}: its budget is not carried over: an id has 1 to 256 characters ` +
      "here",
  ]);
  const { shop, lab: other } = await lab.accounts();
  const budgetsOf = async (id = "", user = "") => {
    const { budgets } = jsonOf(await lab.cli("end-user", "show", id, "--user", user, "--json"));
    return budgets;
  };
  for (const [user, span, amount_usd] of [
    ["by day", "day", "2"],
    ["by month", "month", "20"],
    ["of all time", "total", "3.75"],
    ["spent", "total", "0"],
    ["by quarter", "total", "8"],
    ["blocked", "total", "0"],
  ]) {
    const own = { is_own: true, span, amount_usd, spent_usd: "0", left_usd: amount_usd };
    expect(await budgetsOf(shop?.id, user)).toMatchObject([own]);
    expect(await budgetsOf(other?.id, user)).toEqual([]);
  }
  expect(await budgetsOf(shop?.id, "without a budget")).toEqual([]);
  const again = jsonOf(await run("--end-users", "team:t1"));
  expect(again).toMatchObject({ accounts_known: 2, end_user_budgets: 0 });
  await lab.expectClean();
});
