// Builds the image of a release twice, takes it only if both are the same, and checks the release
// in a container.

import { join, resolve } from "node:path";
import type { Engine } from "../deploy/engine.ts";
import {
  BUN_IMAGE,
  buildBase,
  buildOwnImage,
  DEBIAN_IMAGE,
  ensureDebian,
} from "../deploy/images.ts";
import { PROJECT } from "../local/home.mjs";
import type { BuiltImage } from "./files.ts";
import { writeImageArchive } from "./image-archive.ts";
import { digestOf, NotReleasable, type Source } from "./source.ts";

/** A release that is signed and has an image. */
export interface Released {
  /** The folder of its files. */
  readonly out: string;
  readonly fingerprint: string;
  readonly version: string;
}

/**
 * Checks a signed release as a stranger would: in a container without a network, which has nothing
 * but OpenSSL, the files of the release, and the program of the project that checks them. Also has
 * the image of the release say its commands.
 * @returns the last line of the check
 * @throws {Error} with all that was said, if the check fails
 */
export async function verifyInContainer(
  engine: Engine,
  { out, fingerprint, version }: Released,
): Promise<string> {
  await ensureDebian(engine);
  const apart = ["run", "--rm", "--network", "none"];
  const verify = `${join(PROJECT, "scripts/release/verify")}:/verify:ro`;
  const volumes = ["--volume", `${resolve(out)}:/release:ro`, "--volume", verify];
  const check = ["sh", "/verify", fingerprint, "/release"];
  const said = await engine.must(...apart, ...volumes, DEBIAN_IMAGE, ...check);
  const archive = join(out, `farebox-${version}-image.tar`);
  await engine.must("load", "--quiet", "--input", archive);
  await engine.must(...apart, `localhost/farebox:${version}`, "--help");
  return said.trimEnd().split("\n").at(-1) ?? "";
}

/**
 * Builds the image of unpacked source. The files of the image have the time of the commit.
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
  const file = join(engine.folder, "image.tar");
  const { epoch } = source;
  const build = async () => {
    const args = ["--timestamp", String(epoch)];
    await buildOwnImage(engine, folder, { image, base: base ?? BUN_IMAGE, args });
    const id = await writeImageArchive(engine, { image, file, epoch });
    await engine.must("rmi", image);
    console.log(`The image of ${source.tag} is ${id}.`);
    return id;
  };
  const [first, second] = [await build(), await build()];
  if (first !== second) {
    throw new NotReleasable(`Two builds of the image differ: ${first} and ${second}`);
  }
  return { file, base: await describeBase(engine, base) };
}

/** The image that ours is based on, and its id, or the digest of a Debian that was laid out. */
async function describeBase(engine: Engine, base: string | null): Promise<BuiltImage["base"]> {
  const about = (format: string, image: string) =>
    engine.must("image", "inspect", "--format", format, image);
  if (base === null) {
    const layers = await about("{{json .RootFS.Layers}}", BUN_IMAGE);
    return { name: BUN_IMAGE, digest: digestOf(layers.trim()) };
  }
  const id = (await about("{{.Id}}", base)).trim();
  return { name: base, digest: id.replace("sha256:", "") };
}
