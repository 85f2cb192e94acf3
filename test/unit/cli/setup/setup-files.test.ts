// Tests where `farebox setup` writes, and its words about other readers of the file: a missing
// folder is made, a file that cannot be written is found before the first question, and a step is
// named wherever a process would not take the new settings.

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { replaceAll } from "../../../../src/cli/accounts/key-file.ts";
import { sharedFolder } from "../../../support/shared.ts";
import { KEY, SetupLab, startModelServer } from "./setup-lab.ts";

const ORIGIN = "https://kettle.example";
const ADDRESS = { FAREBOX_SETUP_CONSOLE_URL: ORIGIN };
const ANSWERS = { ...ADDRESS, FAREBOX_SETUP_BRAND_NAME: "Kettle" };
const WRITTEN = `CONSOLE_URL='${ORIGIN}'\n`;
const GIVE = "- Give all processes the variables of";

test("before the first start, setup makes the home and the configuration's folder", async () => {
  const lab = new SetupLab(sharedFolder("setup-no-home"), null);
  const homes = { FAREBOX_HOME: lab.path("new/home"), FAREBOX_CONFIG: "etc/farebox.json" };
  const { code, err } = await lab.script([], { ...ANSWERS, ...homes });
  expect([code, err]).toEqual([0, ""]);
  expect(lab.text("new/home/settings.env")).toBe(WRITTEN);
  expect([lab.mode("new/home"), lab.mode("new/home/settings.env")]).toEqual([0o700, 0o600]);
  expect(Bun.JSONC.parse(lab.text("etc/farebox.json"))).toMatchObject({
    brand: { name: "Kettle" },
  });
});

test.each([
  [{ FAREBOX_HOME: "file/home" }, "file/home/settings.env cannot be written"],
  [{ FAREBOX_CONFIG: "file/farebox.json" }, "file/farebox.json cannot be written"],
])("a file that cannot be written is refused at first: %j", async (homes, problem) => {
  const lab = new SetupLab(sharedFolder("setup-unwritable"), null);
  lab.write("file", "");
  // A wrong answer shows that nothing was asked yet.
  const more = { ...ANSWERS, ...homes, FAREBOX_SETUP_CONSOLE_URL: "wrong" };
  const { code, err } = await lab.script([], more);
  expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
  expect(readdirSync(lab.folder)).toEqual(["file"]);
});

test("files that change together stay as they were if one of them cannot be written", async () => {
  const folder = sharedFolder("setup-together");
  const first = join(folder, "first");
  await replaceAll([{ path: first, text: "before", mode: 0o600 }]);
  mkdirSync(join(folder, "second.part"));
  const files = ["first", "second"].map((name) => ({
    path: join(folder, name),
    text: "after",
    mode: 0o600,
  }));
  await expect(replaceAll(files)).rejects.toThrow("second.part");
  expect(await Bun.file(first).text()).toBe("before");
  expect(readdirSync(folder).toSorted()).toEqual(["first", "second.part"]);
  expect(statSync(first).mode & 0o777).toBe(0o600);
});

test("the step to give all processes the file is named, whichever file it is", async () => {
  const lab = new SetupLab(sharedFolder("setup-giving"), null);
  const beside = { FAREBOX_HOME: lab.path("home") };
  const ofHome = await lab.script(["address"], { ...ADDRESS, ...beside });
  expect(ofHome.out).toContain(
    `${GIVE} ${lab.path("home/settings.env")} (docs/production.md); npm start reads this file`,
  );
  const args = ["address", "--env-file", lab.path("home-of-others/settings.env")];
  const other = await lab.script(args, { ...ADDRESS, ...beside });
  expect(other.out).toContain(`${GIVE} ${lab.path("home-of-others/settings.env")}`);
  expect(other.out).not.toContain("npm start reads");
});

test("a variable of the environment that hides the new value is named", async () => {
  const lab = new SetupLab(sharedFolder("setup-hidden"), null);
  const own = { ...ADDRESS, CONSOLE_URL: "https://old.example" };
  const { out } = await lab.script(["address"], own);
  expect(out).toContain("- Unset CONSOLE_URL in the environment: it goes before the file");

  // The command got this value from the file itself.
  const again = { FAREBOX_SETUP_CONSOLE_URL: "https://new.example", CONSOLE_URL: ORIGIN };
  const second = await lab.script(["address"], again);
  expect(second.out).toContain(GIVE);
  expect(second.out).not.toContain("Unset");
});

test("a file of the environment that hides a new secret is named", async () => {
  const lab = new SetupLab(sharedFolder("setup-hidden-file"), null);
  using server = startModelServer();
  lab.write("old", "sk-old-0123456789");
  const { code, out } = await lab.script(["providers"], {
    FAREBOX_SETUP_PROVIDERS: "openai_compatible",
    FAREBOX_SETUP_OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
    FAREBOX_SETUP_OPENAI_COMPATIBLE_KEY: KEY,
    OPENAI_COMPATIBLE_API_KEY_FILE: lab.path("old"),
  });
  expect(code).toBe(0);
  expect(out).toContain("- Unset OPENAI_COMPATIBLE_API_KEY_FILE, also in ");
});
