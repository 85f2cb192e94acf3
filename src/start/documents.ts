// The operator's own documents in an API process: a copy of those in Postgres, which it searches.

import { DocumentCopy } from "../services/search/providers/document-copy.ts";
import { copyPath } from "../services/search/providers/own-documents.ts";
import type { StoreConfig } from "../settings/config.ts";
import type { Database } from "../store/database.ts";
import { IndexedDocuments } from "../store/indexed-documents.ts";

type CopyParts = Pick<
  ConstructorParameters<typeof DocumentCopy>[0],
  "isUsed" | "everyMs" | "clock" | "log"
>;

/** Opens the copy; it is brought up to date once it is started. */
export async function openDocuments(
  { databaseUrl, directDatabaseUrl: directUrl, dataDirectory: directory }: StoreConfig,
  { database, ...parts }: CopyParts & { readonly database: Database },
): Promise<{ readonly copy: DocumentCopy; readonly path: string }> {
  const documents = new IndexedDocuments(database);
  const { identity } = await documents.state();
  const setup = { databaseUrl, directUrl, directory };
  return {
    copy: new DocumentCopy({ ...parts, documents, setup }),
    path: copyPath(directory, identity),
  };
}
