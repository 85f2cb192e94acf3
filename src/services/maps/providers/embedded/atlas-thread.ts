// The thread of the atlas: it builds the data file of places if that is missing, and paints maps.
// Both would block the thread that serves requests.

import { openDataFile } from "../../../../upstream/data-file.ts";
import type { AtlasMessage, AtlasQuestion, AtlasStart } from "./atlas-messages.ts";
import { MapPainter } from "./map-painter.ts";
import { placeFile } from "./place-file.ts";
import { PlaceIndex } from "./place-index.ts";

declare const self: Worker & {
  onmessage: ((event: MessageEvent<AtlasStart | AtlasQuestion>) => void) | null;
};

const tell = (message: AtlasMessage) => self.postMessage(message);
const say = (level: "info" | "warn" | "error") => (fields: object, message: string) =>
  tell({ type: "log", level, fields, message });
const log = { info: say("info"), warn: say("warn"), error: say("error") };

let painter: MapPainter | null = null;

self.onmessage = ({ data }) => {
  if (data.type === "draw") {
    draw(data);
    return;
  }
  // An error here ends the thread, and the other side receives it as the thread's error.
  void open(data.directory).catch((error: unknown) => setTimeout(() => fail(error)));
};

async function open(directory: string): Promise<void> {
  const places = await openDataFile(placeFile(directory, log));
  painter = new MapPainter(new PlaceIndex(places));
  tell({ type: "ready" });
}

function draw({ id, map }: AtlasQuestion): void {
  try {
    if (painter === null) throw new Error("A map was asked for before the atlas was open");
    tell({ type: "drawn", id, png: painter.paint(map) });
  } catch (error) {
    // Without the error's message, which may name what was drawn.
    tell({ type: "failed", id, reason: error instanceof Error ? error.name : "unknown" });
  }
}

function fail(error: unknown): never {
  throw error;
}
