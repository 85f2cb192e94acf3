import type { Log } from "../../../../core/log.ts";
import type { DataFile } from "../../../../upstream/data-file.ts";
import { createIndexTables, IndexWriter } from "./search-index.ts";
import { type ShippedSource, shippedDocuments, shippedVersion } from "./shipped-documents.ts";

/** Describes the data file with the index of the shipped documents. */
export function shippedIndexFile(directory: string, source: ShippedSource, log: Log): DataFile {
  return {
    directory,
    name: "search-index",
    version: shippedVersion(source),
    log,
    build(draft, progress) {
      createIndexTables(draft);
      new IndexWriter(draft).addAll(shippedDocuments(source, progress), "shipped");
      draft.run("INSERT INTO terms (terms) VALUES ('optimize')");
    },
  };
}
