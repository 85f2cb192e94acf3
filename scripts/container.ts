// The image's entry: `api`, `worker`, or a command of the command-line tool. The process replaces
// nothing and starts no child, so signals reach it directly.

import process from "node:process";

const [name = "api"] = process.argv.slice(2);

if (name === "api") await import("../src/main.ts");
else if (name === "worker") await import("../workers/main.ts");
else await import("../src/cli/main.ts");
