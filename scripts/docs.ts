// `npm run docs`: writes every part of the documentation that is made from the code.

import { join } from "node:path";
import { generatedDocs, PROJECT } from "./docs/generated-docs.ts";

const files = await generatedDocs();
for (const [path, text] of files) await Bun.write(join(PROJECT, path), text);

// Formats the files as `npm run ok` expects them.
const biome = join(PROJECT, "node_modules", ".bin", "biome");
const command = [biome, "format", "--write", "--files-ignore-unknown=true", ...files.keys()];
const format = Bun.spawnSync(command, { cwd: PROJECT });
if (!format.success) throw new Error(`The pages could not be formatted:\n${format.stderr}`);
console.log(`Written: ${[...files.keys()].join(", ")}`);
