// Plants a fault into a source file of a process: `bun --preload` runs this before the program.
// MUTANT is the fault as JSON; its file is named from the root of the project.

import { join } from "node:path";
import { plugin } from "bun";
import { PROJECT } from "../../../scripts/local/home.mjs";

const { file, good, bad } = JSON.parse(process.env.MUTANT ?? "") as {
  readonly file: string;
  readonly good: string;
  readonly bad: string;
};
const path = join(PROJECT, file);

plugin({
  name: "mutant",
  setup(build) {
    build.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, async () => {
      const text = await Bun.file(path).text();
      if (!text.includes(good)) throw new Error(`${file} has no '${good}' to be made faulty`);
      return { contents: text.replace(good, () => bad), loader: "ts" };
    });
  },
});
