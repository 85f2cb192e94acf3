// Builds the image of a release twice, and takes it only if both are the same.

import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Engine } from "../deploy/engine.ts";
import { BUN_IMAGE, buildBase, buildOwnImage } from "../deploy/images.ts";
import type { BuiltImage } from "./files.ts";
import { NotReleasable, type Source } from "./source.ts";

/**
 * Builds the image of unpacked source. Its files have the time of the commit.
 * @param base the image with Bun that it is based on; null lays out a Debian
 * @throws {NotReleasable} if two builds differ
 */
export async function buildTwice(
  engine: Engine,
  source: Source,
  { folder, base }: { readonly folder: string; readonly base: string | null },
): Promise<BuiltImage> {
  if (base === null) await buildBase(engine);
  const image = `farebox:${source.version}`;
  const build = async () => {
    const args = ["--timestamp", String(source.epoch)];
    await buildOwnImage(engine, folder, { image, base: base ?? BUN_IMAGE, args });
    return (await engine.must("image", "inspect", "--format", "{{.Id}}", image)).trim();
  };
  const first = await build();
  await engine.must("rmi", image);
  const second = await build();
  if (first !== second) {
    throw new NotReleasable(`Two builds of the image differ: ${first} and ${second}`);
  }
  const file = join(engine.folder, "image.tar");
  rmSync(file, { force: true });
  await engine.must("save", "--quiet", "--format", "docker-archive", "--output", file, image);
  const format = ["--format", "{{.Id}}"];
  const id = (await engine.must("image", "inspect", ...format, base ?? BUN_IMAGE)).trim();
  return { file, base: { name: base ?? BUN_IMAGE, digest: id.replace("sha256:", "") } };
}
