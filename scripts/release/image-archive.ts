// Writes an image as an archive that is the same for each build of the same files. Podman writes
// the id of the container in which it built into the image, and so makes another image each time.

import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../deploy/engine.ts";
import { must } from "../deploy/tools.ts";

/** The description of an image, as far as the container of its build is in it. */
interface ImageConfig {
  container?: string;
  readonly config?: { Hostname?: string };
  readonly container_config?: { Hostname?: string };
}

interface Manifest {
  readonly Config: string;
  readonly RepoTags: readonly string[];
  readonly Layers: readonly string[];
}

/**
 * Writes an image of the engine to a file that `docker load` and `podman load` read.
 * @param options the image, the file, and the time of all that is in the archive, in seconds
 * @returns the id of the image that is loaded from it: the SHA-256 of its description
 */
export async function writeImageArchive(
  engine: Pick<Engine, "must">,
  { image, file, epoch }: { readonly image: string; readonly file: string; readonly epoch: number },
): Promise<string> {
  const folder = `${file}.parts`;
  const [saved, kept] = [join(folder, "saved"), join(folder, "kept")];
  for (const each of [saved, kept]) mkdirSync(each, { recursive: true });
  rmSync(file, { force: true });
  await engine.must("save", "--quiet", "--format", "docker-archive", "--output", file, image);
  await must(["tar", "-xf", file, "-C", saved]);
  const [manifest] = JSON.parse(readFileSync(join(saved, "manifest.json"), "utf8")) as [Manifest];
  // Layers of the same files are one file, which the manifest may name more than once.
  const layers = [...new Set(manifest.Layers)];
  for (const layer of layers) linkSync(realpathSync(join(saved, layer)), join(kept, layer));
  const config = withoutContainer(readFileSync(join(saved, manifest.Config), "utf8"));
  const id = createHash("sha256").update(config).digest("hex");
  writeFileSync(join(kept, `${id}.json`), config);
  const written = [{ ...manifest, Config: `${id}.json` }];
  writeFileSync(join(kept, "manifest.json"), JSON.stringify(written));
  const same = [
    "--hard-dereference",
    "--sort=name",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--mode=0644",
  ];
  await must([
    "tar",
    ...same,
    `--mtime=@${epoch}`,
    "-cf",
    file,
    "-C",
    kept,
    "manifest.json",
    `${id}.json`,
    ...layers,
  ]);
  rmSync(folder, { recursive: true });
  return id;
}

function withoutContainer(text: string): string {
  const config = JSON.parse(text) as ImageConfig;
  delete config.container;
  delete config.config?.Hostname;
  delete config.container_config?.Hostname;
  return JSON.stringify(config);
}
