// Builds the files of data that ship with Farebox, where they are missing, so that the servers find
// them. Run by `npm start` and `npm test`; servers that find none build them themselves.

import project from "../package.json";
import { loadDataDirectory } from "../src/config.ts";
import { loadGuideDocuments } from "../src/providers/chat/guide.ts";
import { isBuilt, openDataFile } from "../src/providers/data-file.ts";
import { placeFile } from "../src/providers/maps/embedded/place-file.ts";
import { shippedIndexFile } from "../src/providers/search/shipped-index.ts";

const PROJECT = `${import.meta.dir}/..`;

const log = { info: () => {}, warn: console.error, error: console.error };
const directory = loadDataDirectory();
const documentation = await loadGuideDocuments(PROJECT);
const source = { project: PROJECT, homepage: project.homepage, documentation };
const files = [
  { what: "the search index", file: shippedIndexFile(directory, source, log) },
  { what: "the places of the world for maps", file: placeFile(directory, log) },
];
for (const { what, file } of files) {
  if (isBuilt(file)) continue;
  console.log(`- Building ${what}, once.`);
  (await openDataFile(file)).close();
}
