import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type DataFile,
  isBuilt,
  openDataFile,
  type Progress,
} from "../../../src/upstream/data-file.ts";
import { closedGate } from "../../support/gate.ts";
import { sharedFolder } from "../../support/shared.ts";

const root = sharedFolder("data-file");

const ROWS = 1_000;
let folders = 0;

function dataFile(given: Partial<DataFile> = {}): DataFile & { readonly lines: string[] } {
  const lines: string[] = [];
  const note = (fields: object, message: string) => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  return {
    directory: join(root, String(++folders)),
    name: "numbers",
    version: "1.0",
    build: numbers,
    log: { info: note, warn: note, error: note },
    lines,
    ...given,
  };
}

function numbers(db: Parameters<DataFile["build"]>[0], progress: Progress): void {
  db.run("CREATE TABLE numbers (n INTEGER)");
  const insert = db.query("INSERT INTO numbers VALUES (?)");
  db.transaction(() => {
    for (let n = 0; n < ROWS; n += 1) {
      insert.run(n);
      progress(n, ROWS);
    }
  })();
}

async function countOf(file: DataFile): Promise<unknown> {
  using db = await openDataFile(file);
  return db.query("SELECT count(*) AS n FROM numbers").get();
}

test("openDataFile() builds once, and later opens the existing file", async () => {
  const file = dataFile();
  expect(await countOf(file)).toEqual({ n: ROWS });
  const build = () => Promise.reject(new Error("It was built twice"));
  expect(await countOf({ ...file, build })).toEqual({ n: ROWS });
  expect(readdirSync(file.directory)).toEqual(["numbers-1.0.sqlite"]);
});

test.each([0, 50, 4_096])(
  "a file that was cut to %d bytes is built again, and is logged",
  async (bytes) => {
    const file = dataFile();
    await countOf(file);
    const path = join(file.directory, "numbers-1.0.sqlite");
    truncateSync(path, bytes);
    expect(isBuilt(file)).toBe(false);
    expect(await countOf(file)).toEqual({ n: ROWS });
    expect(file.lines).toContainEqual(expect.stringMatching(/not whole.*numbers-1\.0\.sqlite/));
    expect(isBuilt(file)).toBe(true);
  },
);

test("openDataFile() logs a build in a few lines", async () => {
  const file = dataFile();
  await countOf(file);
  expect(file.lines.length).toBeGreaterThanOrEqual(4);
  expect(file.lines.length).toBeLessThanOrEqual(6);
});

test("openDataFile() opens read-only", async () => {
  using db = await openDataFile(dataFile());
  expect(() => db.run("INSERT INTO numbers VALUES (1)")).toThrow("readonly");
});

test("a build that fails leaves nothing, and the next one starts from the beginning", async () => {
  const file = dataFile();
  const build: DataFile["build"] = (db, progress) => {
    numbers(db, progress);
    throw new Error("The data is broken");
  };
  await expect(openDataFile({ ...file, build })).rejects.toThrow("The data is broken");
  expect(readdirSync(file.directory)).toEqual([]);
  expect(await countOf(file)).toEqual({ n: ROWS });
});

test("a build that is killed leaves no file that is opened", async () => {
  const file = dataFile();
  const module = join(import.meta.dir, "../../../src/upstream/data-file.ts");
  const script = `
    import { openDataFile } from ${JSON.stringify(module)};
    const log = { info() {}, warn() {}, error() {} };
    await openDataFile({ ...${JSON.stringify(file)}, log, build(db) {
      db.run("CREATE TABLE numbers (n INTEGER)");
      process.kill(process.pid, "SIGKILL");
    } });`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "ignore" });
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  expect(readdirSync(file.directory)).toHaveLength(1);
  expect(await countOf(file)).toEqual({ n: ROWS });
});

test("leftovers of a killed build go after an hour, those of a running one stay", async () => {
  const file = dataFile();
  const stale = join(file.directory, "numbers-1.0.draft-stale1");
  const fresh = join(file.directory, "numbers-1.0.draft-fresh1");
  for (const folder of [stale, fresh]) mkdirSync(folder, { recursive: true });
  const long = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(stale, long, long);
  await countOf(file);
  expect(readdirSync(file.directory).sort()).toEqual([
    "numbers-1.0.draft-fresh1",
    "numbers-1.0.sqlite",
  ]);
});

test("three builds at once all get a whole file", async () => {
  const file = dataFile();
  const gate = closedGate();
  const build: DataFile["build"] = async (db, progress) => {
    db.run("CREATE TABLE early (n INTEGER)");
    const passed = gate.pass();
    if (gate.arrivals === 3) gate.open();
    await passed;
    numbers(db, progress);
  };
  const counts = await Promise.all([1, 2, 3].map(() => countOf({ ...file, build })));
  expect(counts).toEqual([{ n: ROWS }, { n: ROWS }, { n: ROWS }]);
  expect(readdirSync(file.directory)).toEqual(["numbers-1.0.sqlite"]);
});

test("a new version removes the older ones of its name, and nothing else", async () => {
  const file = dataFile();
  using before = await openDataFile(file);
  writeFileSync(join(file.directory, "numbers-own.notes"), "");
  await countOf({ ...file, name: "numbers-own" });
  await countOf({ ...file, version: "1.1" });
  expect(readdirSync(file.directory).sort()).toEqual([
    "numbers-1.1.sqlite",
    "numbers-own-1.0.sqlite",
    "numbers-own.notes",
  ]);
  // A process that has the older one open keeps reading it.
  expect(before.query("SELECT count(*) AS n FROM numbers").get()).toEqual({ n: ROWS });
});

test("two versions that are built at once are both opened", async () => {
  const gate = closedGate();
  const build: DataFile["build"] = async (db, progress) => {
    await gate.pass();
    numbers(db, progress);
  };
  const file = dataFile({ build });
  const counts = [file, { ...file, version: "2.0" }].map(countOf);
  gate.open();
  expect(await Promise.all(counts)).toEqual([{ n: ROWS }, { n: ROWS }]);
});

test("a name that would leave the directory is refused", async () => {
  await expect(openDataFile(dataFile({ name: "../numbers" }))).rejects.toThrow(RangeError);
  await expect(openDataFile(dataFile({ version: "1/2" }))).rejects.toThrow(RangeError);
});
