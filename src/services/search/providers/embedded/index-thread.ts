// Builds, opens and reads the embedded index in a thread, because both building and searching would
// block the thread that serves requests.

import { openDataFile } from "../../../../upstream/data-file.ts";
import { serveThread } from "../../../../upstream/thread-server.ts";
import { searchBoth } from "../merged-search.ts";
import type { IndexEvent, IndexSetup } from "./index-setup.ts";
import { OwnDocuments } from "./own-documents.ts";
import { type IndexHit, type IndexPage, SearchIndex } from "./search-index.ts";
import { shippedIndexFile } from "./shipped-index.ts";

/** The interval of the checks for documents that were copied meanwhile. */
const LOOK_MS = 1_000;

serveThread<IndexSetup, IndexPage, readonly IndexHit[], IndexEvent>(async (setup, context) => {
  const { directory, source, copy } = setup;
  const { log, send } = context;
  const shipped = new SearchIndex(await openDataFile(shippedIndexFile(directory, source, log)));
  const own = new OwnDocuments(copy);
  const documents = shipped.size + (own.index()?.size ?? 0);
  let reported: boolean | null = null;
  const look = () => {
    const hasDates = [shipped, own.index()].some((index) => index?.hasDates === true);
    if (hasDates !== reported) send({ hasDates });
    reported = hasDates;
  };
  look();
  setInterval(look, LOOK_MS);
  log.info({ documents }, "The search index is open");
  return (query) => searchBoth(shipped, own.index(), query);
});
