// `npm run ok`: runs the checks that a change must pass: format and lint, types, then the tests.
// The run stops at the first failure.

import { join } from "node:path";
import { PROJECT } from "./local/home.mjs";
import { ensurePackages } from "./local/packages.mjs";
import { run } from "./local/processes.mjs";

await ensurePackages({ dev: true, progress: (line) => console.log(`- ${line}`) });

for (const [name, command] of steps()) {
  console.log(`- ${name}`);
  const code = await run(command, { cwd: PROJECT });
  if (code === 0) continue;
  if (name !== "Tests") console.error(`${name}: failed`);
  process.exitCode = code;
  break;
}

/** @returns {[name: string, command: string[]][]} */
function steps() {
  const bin = join(PROJECT, "node_modules", ".bin");
  return [
    ["Format and lint", [join(bin, "biome"), "check", "."]],
    ["Types", [join(bin, "tsc"), "--noEmit"]],
    ["Types of the dashboard", [join(bin, "tsc"), "--noEmit", "-p", "dashboard"]],
    ["Tests", ["node", "scripts/test.mjs", ...process.argv.slice(2)]],
  ];
}
