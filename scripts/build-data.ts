// Builds the data files that ship with Farebox, and the dashboard, if they are missing or stale, so
// that the servers find them. Run by `npm start` and `npm test`; servers that find no data build it
// themselves.

import project from "../package.json";
import { placeFile } from "../src/annexes/atlas/place-file.ts";
import { loadGuideDocuments } from "../src/services/chat/protocols/guide/guide.ts";
import { shippedIndexFile } from "../src/services/search/providers/embedded/shipped-index.ts";
import { loadDataDirectory } from "../src/settings/config.ts";
import { isBuilt, openDataFile } from "../src/upstream/data-file.ts";
import { buildDashboard, isDashboardBuilt } from "./build-dashboard.ts";
import { lineLog } from "./line-log.ts";

const PROJECT = `${import.meta.dir}/..`;

const directory = loadDataDirectory();
const documentation = await loadGuideDocuments(PROJECT);
const source = { project: PROJECT, homepage: project.homepage, documentation };
const files = [
  { what: "the search index", file: shippedIndexFile(directory, source, lineLog) },
  { what: "the places of the world for maps", file: placeFile(directory, lineLog) },
];
for (const { what, file } of files) {
  if (isBuilt(file)) continue;
  console.log(`- Building ${what}, once.`);
  (await openDataFile(file)).close();
}
if (!isDashboardBuilt(directory)) {
  console.log("- Building the dashboard, once.");
  await buildDashboard(directory);
}
