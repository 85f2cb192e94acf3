// Keeps documents on their way into Postgres in a file of this machine: reading a site takes
// minutes, and a transaction should not be open for so long.

import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { linesOfBytes } from "../../../../core/text/text-bytes.ts";
import type { IndexDocument } from "./search-index.ts";

/**
 * Reads all documents first, then passes them to `work`, which may take longer.
 * @throws any error of the reading, before `work` is called
 */
export async function withSpooled<Result>(
  documents: AsyncIterable<IndexDocument>,
  work: (spooled: AsyncIterable<IndexDocument>) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), "farebox-documents-"));
  try {
    const path = join(folder, "documents.jsonl");
    await using file = await open(path, "wx", 0o600);
    for await (const document of documents) await file.write(`${JSON.stringify(document)}\n`);
    return await work(readSpooled(path));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Reads only lines that this file's own code wrote. */
async function* readSpooled(path: string): AsyncGenerator<IndexDocument> {
  for await (const line of linesOfBytes(createReadStream(path)))
    yield JSON.parse(line) as IndexDocument;
}
