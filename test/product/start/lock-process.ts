// Tries to lock the home that each line of its input names, and prints the result.

import { createInterface } from "node:readline";
import { lockHome } from "../../../scripts/local/home.mjs";

for await (const home of createInterface({ input: process.stdin })) {
  console.log(lockHome(home) === null ? "mine" : "another's");
}
