// The entry point of the image: `api`, `worker`, or a command of the command-line tool. The entry
// point starts no child process, so signals reach the program directly.

import process from "node:process";

const [name = "api"] = process.argv.slice(2);

if (name === "api") await import("../src/main.ts");
else if (name === "worker") await import("../workers/main.ts");
else await import("../src/cli/main.ts");
