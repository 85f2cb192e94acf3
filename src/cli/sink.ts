import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { removeStaleDrafts } from "../upstream/data-file.ts";
import { type Input, UsageError } from "./command.ts";

/** The destination of a long output. `write` waits until there is room for more. */
export interface Sink {
  write(text: string): Promise<void>;
  /** Completes the output. Only then does a file appear under its name. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The reader closed stdout, as `head` does. This is not a failure. */
export class OutputClosed extends Error {
  override readonly name = "OutputClosed";
}

/** Writes the pages of a CSV to a file, or to stdout for null. Returns the number of rows. */
export async function writeCsv(
  file: string | null,
  pages: AsyncIterable<{ readonly csv: string; readonly rows: number }>,
): Promise<number> {
  const sink = await openSink(file);
  let rows = 0;
  try {
    for await (const page of pages) {
      await sink.write(page.csv);
      rows += page.rows;
    }
    await sink.finish();
  } finally {
    await sink.close();
  }
  return rows;
}

/** The option for the file of a CSV, which a command with --json needs. */
export const OUT = { value: "FILE", help: "the file to write (stdout)" } as const;

/** The file of `OUT`; null for stdout. @throws UsageError */
export function outFileOf({ values, json }: Pick<Input, "values" | "json">): string | null {
  const file = values.get("out");
  if (file === "") throw new UsageError("--out must name a file");
  if (json && file === undefined) {
    throw new UsageError("--json needs --out, because without it the CSV is written to stdout");
  }
  return file ?? null;
}

/** A file, or stdout for null. */
export async function openSink(file: string | null): Promise<Sink> {
  return file === null ? standardOutput() : await fileSink(file);
}

async function fileSink(file: string): Promise<Sink> {
  const { partial, handle } = await named(file, openPart(file));
  removeStaleDrafts(dirname(file), partial, partialNames(basename(file)));
  let finished = false;
  return {
    write: async (text) => {
      await handle.writeFile(text);
    },
    finish: async () => {
      await handle.sync();
      await named(file, rename(partial, file));
      finished = true;
    },
    close: async () => {
      await handle.close();
      if (!finished) await rm(partial, { force: true });
    },
  };
}

/** The names of the parts of a file. */
function partialNames(name: string): RegExp {
  return new RegExp(`^${RegExp.escape(name)}\\.part-\\d+$`);
}

/** A new file beside the target: another command may write the same target at the same time. */
async function openPart(file: string, count = 1): Promise<{ partial: string; handle: FileHandle }> {
  const partial = `${file}.part-${count}`;
  try {
    return { partial, handle: await open(partial, "wx", 0o600) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return await openPart(file, count + 1);
  }
}

/**
 * Adds the file's name and advice to an error.
 * @throws UsageError
 */
async function named<T>(file: string, step: Promise<T>): Promise<T> {
  return await step.catch(({ code }: NodeJS.ErrnoException) => {
    throw new UsageError(`--out: '${file}' cannot be written (${code}): is its folder there?`);
  });
}

/**
 * Writes to stdout.
 * @throws OutputClosed, or the error of the write, such as a full disk
 */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error == null) return resolve();
      reject("code" in error && error.code === "EPIPE" ? new OutputClosed() : error);
    });
  });
}

// `writeOut` reports the error; without this listener the process would crash.
process.stdout.on("error", () => {});

function standardOutput(): Sink {
  return {
    write: writeOut,
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
