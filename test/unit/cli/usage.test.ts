import { describe, expect, test } from "bun:test";
import { UsageError } from "../../../src/cli/command.ts";
import { parseCommandLine } from "../../../src/cli/commands.ts";
import { SERVICE_NAMES } from "../../../src/core/access/services.ts";
import { cliOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";

const world = await shared(openWorld());
const cli = await cliOf(world);

const ID = "acct_0000000000000000000000";
const PAYMENT = "pay_0000000000000000000000";
const HOOK = "hook_0000000000000000000000";
const WHY = ["--reason", "test"];
const PAY = ["payment", "record", ID];
const KEY = ["key", "create", ID, "--scopes", "models"];
const EXPORT = ["log", "export", ID, "--from", "2026-01-01", "--to"];

describe("a wrong command line exits 2 and names the fault", () => {
  const cases: readonly (readonly [words: readonly string[], named: string])[] = [
    [[], "farebox <command>"],
    [["acount"], "Unknown command 'acount'. The first word is one of setup, account, grant,"],
    [["--version"], "No command is named. The first word is one of setup, account, grant,"],
    [["wroker"], "restore, migrate, api, worker, start ('farebox --help' shows all)"],
    [["account"], "'account' needs a second word: account create, account show"],
    [["account", "delete"], "Unknown command 'account delete'. There are: account create"],
    [["account", "show"], "'account show' needs ID"],
    [["account", "show", "acct_1"], "'acct_1' is not the id of an account"],
    [["account", "show", ID, "more"], "Unexpected argument 'more'. 'farebox account show --help'"],
    [
      ["account", "create", "--mail", "a@b.de"],
      "Unknown option --mail. 'farebox account create --help' shows what it takes",
    ],
    [["account", "create", "--email", "nobody"], "--email must be an email address"],
    [["account", "create", "--surface", "api"], "--surface must be one of gateway, application"],
    [["account", "contract", ID, "pro"], "must be 'enterprise' or 'none', but is 'pro'"],
    [["account", "cap", ID], "needs --usd N|none"],
    [["account", "cap", ID, "--usd", "many"], "--usd: 'many' is not a decimal USD amount"],
    [PAY, "needs --usd N"],
    [[...PAY, "--usd"], "--usd"],
    [[...PAY, "--usd", "-5"], "--usd"],
    [[...PAY, "--usd=-5"], "--usd must not be negative"],
    [[...PAY, "--usd", "0"], "--usd must be above zero"],
    [[...PAY, "--usd", "1e3"], "--usd: '1e3' is not a decimal"],
    [[...PAY, "--usd", "1.0000000001"], "at most 9 decimals"],
    [[...PAY, "--usd", "99999999999"], "--usd: '99999999999' is beyond"],
    [[...PAY, "--usd", "1", "--usd", "2"], "--usd is given more than once"],
    [[...PAY, "--usd", "1", "--at", "yesterday"], "--at must be a date or a time"],
    [[...PAY, "--usd", "1", "--at", "2026-02-30"], "--at must be a date or a time"],
    [[...PAY, "--usd", "1", "--at", "2026-02-03T25:00"], "--at must be a date or a time"],
    [[...PAY, "--usd", "1", "--at", "2999-01-01"], "--at must not be in the future"],
    [[...PAY, "--usd", "1", "--bonus", "-1"], "--bonus must not be negative"],
    [[...PAY, "--usd", "1", "--id", ""], "--id must have 1 to 255 characters"],
    [["webhook", "replay", HOOK, "--delivery", "first"], "must be the number of a delivery"],
    [
      ["webhook", "replay", HOOK, "--delivery", "4", "--since", "2026-01-01"],
      "--since and --delivery exclude each other",
    ],
    [["webhook", "deliveries", HOOK, "--status", "lost"], "must be one of waiting, "],
    [["payment", "refund"], "needs PAYMENT-ID"],
    [["payment", "refund", ID], "is not the id of a payment"],
    [["payment", "refund", PAYMENT, "--usd", "0"], "--usd must be above zero"],
    [["payment", "refund", PAYMENT, "--usd", "-5"], "--usd must not be negative"],
    [["payment", "dispute", PAYMENT], "needs open|won|lost"],
    [["payment", "dispute", PAYMENT, "close"], "must be one of open, won, lost, but is 'close'"],
    [["payment", "list", PAYMENT], "is not the id of an account"],
    [["account", "adjust", ID, "--usd", "-5"], "needs --reason TEXT"],
    [["account", "adjust", ID, "--usd", "0", ...WHY], "--usd must not be zero"],
    [["account", "adjust", ID, "--usd", "-x", ...WHY], "--usd"],
    [["account", "adjust", ID, "--usd", "-5", "--reason", " "], "--reason must have 1 to 500"],
    [["account", "forgive", ID, "--usd", "-5", ...WHY], "--usd must not be negative"],
    [["key", "create", ID], "needs --scopes a,b"],
    [["key", "create", ID, "--scopes", ""], "--scopes must be a list without empty entries"],
    [["key", "create", ID, "--scopes", "models,"], "--scopes must be a list without empty entries"],
    [
      ["key", "create", ID, "--scopes", "chat"],
      "--scopes must contain only models, search, maps, mail",
    ],
    [[...KEY, "--ip", "10.0.0.0/33"], "--ip: '10.0.0.0/33' is neither"],
    [[...KEY, "--ip", "example.org"], "--ip: 'example.org' is neither"],
    [[...KEY, "--name", ""], "--name must have 1 to 64 characters"],
    [[...KEY, "--name", "a\nb"], "--name must have 1 to 64 characters"],
    [[...KEY, "--monthly-limit", "x"], "--monthly-limit: 'x'"],
    [["key", "revoke", ID], "is not the id of a key"],
    [
      ["service", "pause", "news"],
      `The target must be one of ${SERVICE_NAMES.join("|")}|model:ID, but is 'news'`,
    ],
    [["service", "pause", "model:"], "but is 'model:'"],
    [["topup", "auto", ID, "--usd", "20", "--consent", "--below", "10"], "--usd needs --month"],
    [["log", "export", ID, "--from", "2026-01-01"], "needs --to ISO-TIME"],
    [[...EXPORT, "2026-01-01"], "--from must be before --to"],
    [[...EXPORT, "2026-01-02", "--json"], "--json needs --out"],
    [["statement", "show", ID], "needs --month MONTH"],
    [["statement", "show", ID, "--month", "2026-13"], "--month must be a month such as 2026-11"],
    [["audit", "all"], "'all' is not the id of an account"],
  ];

  test.each(cases.map(([words, named]) => [words.join(" "), words, named] as const))(
    "farebox %s",
    (_, words, named) => {
      expect(() => parseCommandLine(words, Date.now())).toThrow(UsageError);
      expect(() => parseCommandLine(words, Date.now())).toThrow(named);
    },
  );

  const names: readonly (readonly string[])[] = [
    ["account", "create", "--surface", "Application", "--plan", "Pro"],
    ["account", "plan", ID, "MAX"],
    ["plan", "buy", ID, "PRO", "--consent"],
    ["account", "contract", ID, "Enterprise"],
    ["account", "cap", ID, "--usd", "None"],
    ["payment", "dispute", PAYMENT, "Won"],
    ["key", "create", ID, "--scopes", "Models,MAIL"],
    ["service", "pause", "Chat"],
    ["service", "pause", "Model:Qwen/Qwen3"],
  ];
  test.each(names.map((words) => [words.join(" "), words] as const))(
    "but a name may be written in any case: farebox %s",
    (_, words) => expect(parseCommandLine(words, Date.now())).toMatchObject({ kind: "run" }),
  );

  test("as a process, with nothing on stdout and without stores", async () => {
    const blind = await cliOf(world, { REDIS_URL: "", DATABASE_URL: "" });
    const outcome = await blind(...PAY, "--usd", "many");
    const err = "--usd: 'many' is not a decimal USD amount with at most 9 decimals\n";
    expect(outcome).toEqual({ code: 2, out: "", err });
    expect(await blind()).toMatchObject({ code: 2, out: "" });
  });

  test("also if an address of a store is wrong, which it names", async () => {
    const astray = await cliOf(world, { DATABASE_URL: "postgres://[half" });
    const { code, err } = await astray("account", "show", ID);
    expect([code, err]).toEqual([1, expect.stringContaining("DATABASE_URL must be an address")]);
  });

  test("with --json the error is an object too", async () => {
    const { code, out } = await cli("account", "show", "x", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(out)).toEqual({
      error: { code: "usage", message: expect.stringContaining("'x' is not the id") },
    });
    const missing = await cli("account", "show", ID, "--json");
    expect(missing.code).toBe(1);
    expect(JSON.parse(missing.out).error).toEqual({
      code: "not_found",
      message: `There is no account ${ID}`,
    });
  });
});

test("--help shows all commands, a group or one command, and needs no stores", async () => {
  const blind = await cliOf(world, { REDIS_URL: "", DATABASE_URL: "" });
  const all = await blind("--help");
  expect(all.code).toBe(0);
  expect(all.out).toContain("farebox account create");
  expect(all.out).toContain("farebox audit [ID]");
  const group = await blind("key", "--help");
  expect(group.out).toContain("farebox key revoke KEY-ID");
  expect(group.out).not.toContain("farebox account");
  const one = await blind("payment", "record", "--help");
  expect(one.code).toBe(0);
  expect(one.out).toStartWith("farebox payment record ID --usd N [options]\n");
  expect(one.out).toContain("--at ISO-TIME");
});

test("a missing setting, and a store that is away, are reported and exit 1", async () => {
  const unset = await cliOf(world, { DATABASE_URL: "" });
  expect(await unset("audit")).toMatchObject({
    code: 1,
    err: expect.stringContaining("DATABASE_URL is not set"),
  });
  const away = await cliOf(world, { DATABASE_URL: "postgres://127.0.0.1:1/x" });
  const { code, err } = await away("account", "show", ID);
  expect([code, err]).toEqual([
    1,
    "Postgres cannot be reached: check its address (DATABASE_URL) and firewalls " +
      "(connect ECONNREFUSED 127.0.0.1:1) (farebox doctor says more)\n",
  ]);
  const misspelt = await cliOf(world, { DATABASE_URL: `${world.databaseUrl}_misspelt` });
  expect(await misspelt("account", "find")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Postgres refuses the connection, check DATABASE_URL: database /),
  });
  const withoutRedis = await cliOf(world, { REDIS_URL: "redis://127.0.0.1:1" });
  const audited = await withoutRedis("audit");
  expect([audited.code, audited.err]).toEqual([
    1,
    "Redis cannot be reached: check its address, user and password, and firewalls " +
      "(farebox doctor says more)\n",
  ]);
});

test("service pause and resume take effect at once and may be repeated", async () => {
  const paused = jsonOf(await cli("service", "pause", "model:a/b-1", "--json"));
  expect(paused).toEqual({ id: "model:a/b-1", paused: true, changed: true });
  expect((await cli("service", "pause", "model:a/b-1")).out).toBe(
    "model:a/b-1 is already paused.\n",
  );
  const resumed = jsonOf(await cli("service", "resume", "model:a/b-1", "--json"));
  expect(resumed).toEqual({ id: "model:a/b-1", paused: false, changed: true });
  expect((await cli("service", "resume", "chat")).out).toBe("chat is already running.\n");
});
