// Brings this machine's copy of the documents up to date in a thread: building an index of them
// would block the threads that serve requests and searches.

import { IndexedDocuments } from "../../../../store/documents/indexed-documents.ts";
import { openDatabase } from "../../../../store/servers/database.ts";
import { serveThread } from "../../../../upstream/thread-server.ts";
import type { CopyEvent, CopySetup } from "./copy-setup.ts";
import { updateCopy } from "./own-documents.ts";

serveThread<CopySetup, never, never, CopyEvent>(async (setup, { send }) => {
  const { databaseUrl, directUrl, directory } = setup;
  const database = openDatabase(databaseUrl, { directUrl, connectionsMax: 1 });
  try {
    const documents = new IndexedDocuments(database);
    const version = await updateCopy(documents, directory, () => send({ version: null }));
    send({ version });
  } finally {
    await database.close();
  }
  return (request) => request;
});
