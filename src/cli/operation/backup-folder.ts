// Reads and writes a backup: a folder with a file for each table and a manifest. The manifest is
// written last, so a folder without a manifest is not a backup.

import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { AdministrationError } from "../../core/errors.ts";
import { thrownMessage } from "../../core/text/error-message.ts";

const MANIFEST = "manifest.json";
const FORMAT = 1;
const PRIVATE_FOLDER = 0o700;
const PRIVATE_FILE = 0o600;
const LINE_END = 0x0a;

const TableFile = Type.Object({
  columns: Type.Array(Type.String({ pattern: "^[a-z_]+$" })),
  rows: Type.Integer({ minimum: 0 }),
  sha256: Type.String(),
});

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  /** The instant that the backup shows. */
  at: Type.String(),
  release: Type.String(),
  postgres: Type.Integer(),
  migrations: Type.Array(Type.String()),
  cursors: Type.Array(
    Type.Object({ bucket: Type.Integer(), epoch: Type.Integer(), entry: Type.Integer() }),
  ),
  log_months: Type.Array(Type.String({ pattern: "^\\d{4}-\\d{2}$" })),
  accounts: Type.Integer(),
  ledger_entries: Type.Integer(),
  balance_usd: Type.String(),
  tables: Type.Record(Type.String({ pattern: "^[a-z_]+$" }), TableFile),
});

export type BackupManifest = Static<typeof Manifest>;
export type TableFile = Static<typeof TableFile>;

/** Makes the folder of a new backup. @throws AdministrationError if something is there */
export async function makeBackupFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
  if ((await readdir(folder)).length === 0 && (await isClaimed(folder))) return;
  throw new AdministrationError("wrong_state", `${folder} is not empty: name a new folder`);
}

/**
 * Creates the draft of the manifest. False if another backup has created it: two backups would
 * overwrite each other's files.
 */
async function isClaimed(folder: string): Promise<boolean> {
  try {
    await (await open(draftOf(folder), "wx", PRIVATE_FILE)).close();
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

function draftOf(folder: string): string {
  return join(folder, `${MANIFEST}.part`);
}

/** Writes the rows of a table, compressed. */
export async function writeTableFile(
  folder: string,
  { name, columns }: { readonly name: string; readonly columns: readonly string[] },
  rows: AsyncIterable<Buffer>,
): Promise<TableFile> {
  const measured = measure();
  const file = createWriteStream(tableFile(folder, name), { mode: PRIVATE_FILE });
  await pipeline(measured.passing(rows), createGzip(), file);
  await toDisk(tableFile(folder, name));
  return { columns: [...columns], ...measured.result() };
}

/** Completes the backup. */
export async function writeManifest(
  folder: string,
  manifest: Omit<BackupManifest, "format">,
): Promise<void> {
  const draft = draftOf(folder);
  const handle = await open(draft, "w", PRIVATE_FILE);
  try {
    await handle.writeFile(`${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, join(folder, MANIFEST));
  await toDisk(folder);
}

/** Waits until a file, or the names in a folder, would survive a power cut. */
async function toDisk(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Reads the manifest. @throws AdministrationError if it is missing or not one of ours */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch((cause: unknown) => {
    throw new AdministrationError(
      "not_found",
      `${folder} is no complete backup: its ${MANIFEST} cannot be read ` +
        `(${thrownMessage(cause)})`,
    );
  });
  const manifest = parse(text);
  if (Value.Check(Manifest, manifest)) return manifest;
  const first = Value.Errors(Manifest, manifest).First();
  throw new AdministrationError(
    "wrong_state",
    `${MANIFEST} of ${folder} is not one that this release reads: ` +
      `${first?.path || "the file"}: ${first?.message ?? "it is no JSON"}`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports that the file is not a manifest.
    return null;
  }
}

/** The rows of a table. */
export async function* readTableFile(folder: string, table: string): AsyncGenerator<Buffer> {
  const file = createReadStream(tableFile(folder, table));
  const plain = createGunzip();
  // Passes an error of the file on to the reader of the decompressed rows.
  file.on("error", (error) => plain.destroy(error));
  for await (const chunk of file.pipe(plain)) yield chunk as Buffer;
}

/** Reads all files again, and names those that differ from the manifest. */
export async function damagesOf(folder: string, manifest: BackupManifest): Promise<string[]> {
  const damages: string[] = [];
  for (const [name, expected] of Object.entries(manifest.tables)) {
    const damage = await damageOf(folder, name, expected);
    if (damage !== null) damages.push(damage);
  }
  return damages;
}

async function damageOf(folder: string, name: string, expected: TableFile): Promise<string | null> {
  try {
    await stat(tableFile(folder, name));
    const measured = measure();
    for await (const _ of measured.passing(readTableFile(folder, name)));
    const { rows, sha256 } = measured.result();
    if (sha256 === expected.sha256) return null;
    return `the file of ${name} was changed: it has ${rows} rows, and had ${expected.rows}`;
  } catch (error) {
    return `the file of ${name} cannot be read: ${thrownMessage(error)}`;
  }
}

function measure() {
  const hash = new Bun.CryptoHasher("sha256");
  let rows = 0;
  return {
    async *passing(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        for (const byte of chunk) if (byte === LINE_END) rows += 1;
        yield chunk;
      }
    },
    result: () => ({ rows, sha256: hash.digest("hex") }),
  };
}

function tableFile(folder: string, name: string): string {
  return join(folder, `${name}.copy.gz`);
}
