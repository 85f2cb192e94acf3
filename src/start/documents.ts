// The operator's own documents in an API process: a copy of those in Postgres, which it searches.

import { accessSync, constants, lstatSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DocumentCopy } from "../services/search/providers/embedded/document-copy.ts";
import { copyPath } from "../services/search/providers/embedded/own-documents.ts";
import type { StoreConfig } from "../settings/config.ts";
import { IndexedDocuments } from "../store/documents/indexed-documents.ts";
import type { Database } from "../store/servers/database.ts";

type CopyParts = Pick<
  ConstructorParameters<typeof DocumentCopy>[0],
  "isUsed" | "everyMs" | "clock" | "log"
>;

/** Opens the copy; it is brought up to date once it is started. */
export async function openDocuments(
  { databaseUrl, directDatabaseUrl: directUrl, dataDirectory }: StoreConfig,
  { database, ...parts }: CopyParts & { readonly database: Database },
): Promise<{ readonly copy: DocumentCopy; readonly path: string }> {
  const documents = new IndexedDocuments(database);
  const { identity } = await documents.state();
  const directory = folderOfCopy(dataDirectory);
  const setup = { databaseUrl, directUrl, directory };
  return {
    copy: new DocumentCopy({ ...parts, documents, setup }),
    path: copyPath(directory, identity),
  };
}

/**
 * The folder of the copy: the data folder. If that cannot be written, as in the image, it is a
 * folder of this user below the system's folder for temporary files.
 */
export function folderOfCopy(dataDirectory: string, temporary = tmpdir()): string {
  const uid = process.getuid?.() ?? 0;
  const own = join(temporary, `farebox-data-${uid}`);
  if (isWritable(dataDirectory) || !isWritable(own)) return dataDirectory;
  const { uid: owner, mode } = lstatSync(own);
  // Another user of this machine could have made the folder first, with documents of their choice.
  return owner === uid && (mode & OTHERS_WRITE) === 0 ? own : dataDirectory;
}

const OTHERS_WRITE = 0o022;

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
