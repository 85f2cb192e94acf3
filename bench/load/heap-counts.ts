// Loaded before a program (`bun --preload`): at SIGUSR2 it writes how many objects of each kind the
// program's JavaScript heap has, garbage included, to the next file of HEAP_COUNTS.

import { heapStats } from "bun:jsc";
import { writeFileSync } from "node:fs";

const folder = process.env.HEAP_COUNTS ?? "";
let written = 0;

process.on("SIGUSR2", () => {
  const { objectTypeCounts } = heapStats();
  writeFileSync(`${folder}/${written}.json`, JSON.stringify(objectTypeCounts));
  written += 1;
});
