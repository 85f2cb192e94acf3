// Runs the thread of the atlas: it builds the data file of places if that is missing, and paints
// maps. Both would block the thread that serves requests.

import { openDataFile } from "../../upstream/data-file.ts";
import { serveThread } from "../../upstream/thread-server.ts";
import type { AtlasSetup } from "./atlas-setup.ts";
import type { MapRequest } from "./map-drawing.ts";
import { MapPainter } from "./map-painter.ts";
import { placeFile } from "./place-file.ts";
import { PlaceIndex } from "./place-index.ts";

serveThread<AtlasSetup, MapRequest, Uint8Array>(async ({ directory }, { log }) => {
  const places = await openDataFile(placeFile(directory, log));
  const painter = new MapPainter(new PlaceIndex(places));
  return (map) => painter.paint(map);
});
