// Tests `farebox config`: the checks before a version is stored, and two operators at once.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { announceProcess } from "../../../actors/layout-upgrade.ts";
import { cliOf, cliProcessOf, jsonOf } from "../../support/product/run-cli.ts";
import { shared, sharedFolder } from "../../support/shared.ts";
import { openWorld } from "../../support/stores/world.ts";
import { workIn } from "../../support/work-in.ts";

const SECRET = "sk-secret-that-no-output-has";
const ENV = { SERVER_KEY: SECRET };
const folder = sharedFolder("config");

const world = await shared(openWorld());
// File names are relative to the folder.
workIn(folder);
const cli = await cliOf(world, ENV);

function model(id: string, input: string) {
  return {
    id,
    label: id,
    family: "f",
    owned_by: "o",
    context_length: 1_000,
    pricing: [{ input_usd_per_m: input, output_usd_per_m: "2" }],
    routes: [{ provider: "server", model: id }],
  };
}

function file(name: string, models: readonly object[], more: object = {}): string {
  const server = { base_url: "http://127.0.0.1:1", api_key_env: "SERVER_KEY" };
  const text = JSON.stringify({ providers: { server }, models, ...more }, null, 1);
  writeFileSync(join(folder, name), text);
  return text;
}

async function versions(): Promise<number> {
  return jsonOf(await cli("config", "history", "--json")).versions.length;
}

test("without a version nothing is in force, and nothing can be shown", async () => {
  expect((await cli("config", "show")).out).toContain("each process reads its own file");
  expect(jsonOf(await cli("config", "history", "--json"))).toEqual({ versions: [] });
});

test("a dry run lists the changes, and stores nothing", async () => {
  file("first.json", [model("small", "1"), model("large", "10")]);
  const { code, out } = await cli("config", "apply", "first.json", "--dry-run");
  expect(code).toBe(0);
  expect(out).toContain("model small: added, $1 in, $2 out, by server/small");
  expect(out).toContain("provider server: added, http://127.0.0.1:1");
  expect(await versions()).toBe(0);
});

test("models whose longest reply is not configured are named, up to ten", async () => {
  const warned = async (...models: readonly object[]) => {
    file("limits.json", models);
    const { code, err } = await cli("config", "apply", "limits.json", "--dry-run");
    expect(code).toBe(0);
    return err;
  };
  const whole = { ...model("whole", "1"), max_output_tokens: 800 };
  const vectors = {
    ...model("vectors", "1"),
    serves: "embedding",
    pricing: [{ input_usd_per_m: "1", output_usd_per_m: "0" }],
  };
  expect(await warned(whole, vectors)).toBe("");
  const named = await warned(whole, model("small", "1"), model("large", "10"));
  expect(named).toMatch(/^Without max_output_tokens: small, large\. .* \/v1\/responses .* 4096 /);
  const many = Array.from({ length: 12 }, (_, at) => model(`m${at}`, "1"));
  expect(await warned(...many)).toContain(" m8, m9 and 2 more. ");
});

test("a file is stored unchanged, and its changes are listed", async () => {
  const first = file("first.json", [model("small", "1"), model("large", "10")]);
  const { out, err } = await cli("config", "apply", "first.json", "--note", "Begin");
  expect(out).toContain("Version 1 is in force");
  expect(err).toContain("Without max_output_tokens: small, large. ");
  expect(jsonOf(await cli("config", "show", "--json"))).toMatchObject({ version: 1, text: first });
  file("second.json", [model("small", "1.5"), model("new", "3")], { auto: { policy: "cheapest" } });
  const { changes } = jsonOf(await cli("config", "apply", "second.json", "--json"));
  expect(changes).toEqual([
    "model large: removed",
    "model small: $1 in, $2 out -> $1.5 in, $2 out",
    "model new: added, $3 in, $2 out, by server/new",
    "auto: changed",
  ]);
  const history = await cli("config", "history");
  expect(history.out).toMatch(/^Version 2, .*command line\n {2}model large: removed/);
  expect(history.out).toContain("Version 1, ");
  expect(history.out).toContain(": Begin\n");
});

test("the text that is in force already is not stored again", async () => {
  const again = jsonOf(await cli("config", "apply", "second.json", "--json"));
  expect(again).toEqual({ version: 2, applied: false, changes: [] });
  const { out } = await cli("config", "rollback", "2");
  expect(out).toContain("Version 2 has this text: nothing was stored.");
  expect(await versions()).toBe(2);
});

test("a file that the servers would refuse is refused by line and field", async () => {
  const wrong: readonly (readonly [models: object[], more: object, named: RegExp])[] = [
    [[], { modls: [] }, /wrong\.json line \d+: modls is not allowed here/],
    [[model("small", "-1")], {}, /wrong\.json line \d+: models\[0\]\.pricing\[0\]/],
    [
      [],
      { providers: { p: { base_url: "http://ada:secret@h.example" } } },
      /providers\.p\.base_url must hold no credentials/,
    ],
    [
      [],
      {
        providers: {
          p: { base_url: "http://h.example", api_key_env: "NOBODY_SET_IT" },
          q: { base_url: "http://h.example", api_key_env: "NOR_THIS" },
        },
      },
      /api_key_env names .* 'NOBODY_SET_IT' that is not set\n.* 'NOR_THIS' that is not set/,
    ],
    [
      [],
      { providers: { p: { base_url: "http://h.example", api_key_env: "KEY_PEPPER" } } },
      /api_key_env names 'KEY_PEPPER', a setting of Farebox itself/,
    ],
  ];
  for (const [models, more, named] of wrong) {
    file("wrong.json", models, more);
    const { code, err } = await cli("config", "apply", "wrong.json");
    expect(code).toBe(1);
    expect(err).toMatch(named);
  }
  expect((await cli("config", "apply", "none.json")).err).toContain("none.json: it cannot be read");
  expect(await versions()).toBe(2);
});

test("a file that is not text is refused before anything is stored", async () => {
  const path = join(folder, "wrong.json");
  writeFileSync(path, '{\n  // \0\n  "providers": {}, "models": []\n}');
  const withNul = await cli("config", "apply", "wrong.json");
  expect([withNul.code, withNul.err]).toEqual([
    1,
    expect.stringContaining("wrong.json line 2: a NUL character is not allowed here"),
  ]);
  writeFileSync(path, Buffer.from('{ "providers": {}, "models": [] } // \xff', "latin1"));
  const withoutUtf8 = await cli("config", "apply", "wrong.json");
  expect([withoutUtf8.code, withoutUtf8.err]).toEqual([
    1,
    expect.stringContaining("wrong.json: it is not UTF-8"),
  ]);
  expect(await versions()).toBe(2);
});

test("of two applies that expect the same version one is refused", async () => {
  file("ada.json", [model("small", "4")]);
  file("bob.json", [model("small", "5")]);
  const processes = cliProcessOf(world, { env: ENV, cwd: folder });
  const outcomes = await Promise.all(
    ["ada.json", "bob.json"].map((name) => processes("config", "apply", name, "--expect", "2")),
  );
  expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1]);
  const refused = outcomes.find(({ code }) => code === 1);
  expect(refused?.err).toContain("Version 2 is expected to be in force, but version 3 is");
  expect(await versions()).toBe(3);
});

test("applies at once are numbered without gaps", async () => {
  const names = ["a", "b", "c"].map((name, index) => {
    file(`${name}.json`, [model(name, String(index + 6))]);
    return `${name}.json`;
  });
  await Promise.all(names.map((name) => cli("config", "apply", name)));
  const { versions: rows } = jsonOf(await cli("config", "history", "--json"));
  expect(rows.map(({ version }: { version: number }) => version)).toEqual([6, 5, 4, 3, 2, 1]);
});

test("no output and no row holds a key", async () => {
  const all = await Promise.all([cli("config", "show", "--json"), cli("config", "history")]);
  const rows = await world.database.sql`SELECT * FROM configurations`;
  expect(JSON.stringify([all, rows])).not.toContain(SECRET);
});

test("doctor names a process that runs another version, and a file that is not used", async () => {
  file("farebox.config.json", [model("small", "9")]);
  await announceProcess(world.redis, "proc_behind", 2);
  await announceProcess(world.redis, "proc_worker", null);
  const { err: out } = await cli("doctor");
  expect(out).toMatch(/PROBLEM +configuration +Version 6 is in force, proc_behind runs 2/);
  expect(out).toMatch(/WARNING +configuration +farebox\.config\.json is not used/);
  expect(out).not.toContain("proc_worker");
});

for (const [words, named] of [
  [["apply"], "needs FILE"],
  [["apply", "first.json", "--expect", "x"], "--expect must be the number of a version"],
  [["rollback", "0"], "N must be the number of a version"],
  [["show", "--version", "1.5"], "--version must be the number of a version"],
] as const) {
  test(`config ${words.join(" ")}: ${named}`, async () => {
    const { code, err } = await cli("config", ...words);
    expect(code).toBe(2);
    expect(err).toContain(named);
  });
}

test("a missing version is named", async () => {
  const { code, err } = await cli("config", "rollback", "77");
  expect([code, err]).toEqual([1, "There is no version 77\n"]);
});
