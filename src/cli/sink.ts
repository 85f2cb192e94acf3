import { open, rename, rm } from "node:fs/promises";

/** Where a long output goes. `write` waits until there is room for more. */
export interface Sink {
  write(text: string): Promise<void>;
  /** Says that the output is complete; a file appears under its name only then. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** The reader of stdout went away, as `head` does; nobody needs to be told. */
export class ReaderGone extends Error {
  override readonly name = "ReaderGone";
}

/** A file, or stdout for null. */
export async function openSink(file: string | null): Promise<Sink> {
  return file === null ? standardOutput() : await fileSink(file);
}

async function fileSink(file: string): Promise<Sink> {
  const draft = `${file}.part`;
  const handle = await open(draft, "w", 0o600);
  let finished = false;
  return {
    write: async (text) => {
      await handle.writeFile(text);
    },
    finish: async () => {
      await handle.sync();
      await rename(draft, file);
      finished = true;
    },
    close: async () => {
      await handle.close();
      if (!finished) await rm(draft, { force: true });
    },
  };
}

function standardOutput(): Sink {
  // The write itself tells of it; without a listener the process would end with a stack.
  process.stdout.on("error", () => {});
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        process.stdout.write(text, (error) => (error ? reject(new ReaderGone()) : resolve()));
      }),
    finish: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
