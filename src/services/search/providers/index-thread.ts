// The thread of the embedded index. It builds, opens and reads the index, because both building and
// searching would block the thread that serves requests.

import { openDataFile } from "../../../upstream/data-file.ts";
import type { IndexAnswer, IndexMessage, IndexQuestion, IndexStart } from "./index-messages.ts";
import { searchBoth } from "./merged-search.ts";
import { OwnDocuments } from "./own-documents.ts";
import { SearchIndex } from "./search-index.ts";
import { shippedIndexFile } from "./shipped-index.ts";

declare const self: Worker & {
  onmessage: ((event: MessageEvent<IndexStart | IndexQuestion>) => void) | null;
};

/** How often to check for documents that a command line added. */
const LOOK_MS = 1_000;

const log = {
  info: (fields: object, message: string) => tell({ type: "log", level: "info", fields, message }),
  warn: (fields: object, message: string) => tell({ type: "log", level: "warn", fields, message }),
  error: (fields: object, message: string) =>
    tell({ type: "log", level: "error", fields, message }),
};

let shipped: SearchIndex | null = null;
let own: OwnDocuments | null = null;

self.onmessage = ({ data }) => {
  if (data.type === "start") {
    // An error here ends the thread, and the other side receives it as the thread's error.
    void open(data).catch((error: unknown) => setTimeout(() => fail(error)));
  } else {
    tell(answer(data));
  }
};

async function open({ directory, source }: IndexStart): Promise<void> {
  shipped = new SearchIndex(await openDataFile(shippedIndexFile(directory, source, log)));
  own = new OwnDocuments(directory);
  tell({ type: "ready", documents: shipped.size + (own.index()?.size ?? 0) });
  let reported: boolean | null = null;
  const look = () => {
    const hasDates = [shipped, own?.index()].some((index) => index?.hasDates === true);
    if (hasDates !== reported) tell({ type: "dates", hasDates });
    reported = hasDates;
  };
  look();
  setInterval(look, LOOK_MS);
}

function fail(error: unknown): never {
  throw error;
}

function answer({ id, query }: IndexQuestion): IndexAnswer {
  try {
    if (shipped === null) return { type: "failed", id, reason: "it is not open" };
    return { type: "hits", id, hits: searchBoth(shipped, own?.index() ?? null, query) };
  } catch (error) {
    // Without the error's message, which may quote the query.
    return { type: "failed", id, reason: error instanceof Error ? error.name : "unknown" };
  }
}

function tell(message: IndexMessage): void {
  self.postMessage(message);
}
