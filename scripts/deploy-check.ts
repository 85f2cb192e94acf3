// `npm run deploy:check`: holds the files of deploy/ against the tools that know them, builds the
// image, and runs the compose file and the chart with Podman, as far as these are installed. The
// run lists the checks that it had to leave out; with CI set that is a failure.
//
//   --install      first installs the tools: of Go and Python below the home of Farebox, and as
//                  root on Debian the packages of Podman
//   --files        checks the files alone, in seconds
//   --image FILE   runs that archive, such as a release's, and builds none

import { parseArgs } from "node:util";
import { checkChart } from "./deploy/chart-run.ts";
import { checkCompose } from "./deploy/compose-run.ts";
import { type Engine, openEngine } from "./deploy/engine.ts";
import { checkFiles } from "./deploy/files.ts";
import { buildBase, buildOwnImage, buildStandIns, loadImage, OWN_IMAGE } from "./deploy/images.ts";
import { Report } from "./deploy/report.ts";
import { install, which } from "./deploy/tools.ts";
import { PROJECT } from "./local/home.mjs";

/** The programs that run containers, in the order in which a missing one is named. */
const NEEDED = ["podman", "runc", "debootstrap", "podman-compose", "helm", "caddy"];

const { values } = parseArgs({
  options: {
    install: { type: "boolean", default: false },
    files: { type: "boolean", default: false },
    image: { type: "string" },
  },
});
const report = new Report();
if (values.install) await install();
await checkFiles(report);
if (!values.files) await checkContainers();
process.exitCode = report.failed === 0 ? 0 : 1;

async function checkContainers(): Promise<void> {
  const what = "the image, the compose file and the chart in containers";
  const absent = NEEDED.find((program) => which(program) === null);
  if (absent !== undefined) return report.missing(what, `${absent} is not installed`);
  if (process.getuid?.() !== 0) return report.missing(what, "networks of containers need root");
  await using engine = await openEngine();
  console.log(`- Podman keeps images with ${engine.storage}.`);
  if (engine.overlayRefusal !== null) report.refused("overlays of folders", engine.overlayRefusal);
  if (!(await buildImages(engine))) return;
  await checkCompose(engine, report);
  await checkChart(engine, report);
}

async function buildImages(engine: Engine): Promise<boolean> {
  const { image } = values;
  return (
    (await report.step("a base and stand-ins of public images", async () => {
      await buildBase(engine);
      await buildStandIns(engine);
    })) &&
    (await report.step(image === undefined ? "deploy/Dockerfile builds" : `${image} loads`, () =>
      image === undefined
        ? buildOwnImage(engine, PROJECT, { image: OWN_IMAGE })
        : loadImage(engine, image),
    ))
  );
}
