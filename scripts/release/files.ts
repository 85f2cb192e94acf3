// Writes the files of a release into a folder.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { must } from "../deploy/tools.ts";
import { temporaryFolder } from "../local/processes.mjs";
import { type Materials, provenanceOf } from "./provenance.ts";
import { sbomOf } from "./sbom.ts";
import type { SigningKey } from "./sign.ts";
import { digestOf, NotReleasable, readSource, type Source } from "./source.ts";

/** A built image, as an archive that `docker load` and `podman load` read. */
export interface BuiltImage {
  readonly file: string;
  readonly base: NonNullable<Materials["base"]>;
}

export interface ReleaseOptions {
  /** A folder of the git repository. */
  readonly project: string;
  readonly tag: string;
  /** The folder to write into; it must be empty or missing. */
  readonly out: string;
  /** Null leaves the signature and the public key to whoever has the key. */
  readonly key: SigningKey | null;
  /** Builds the image of unpacked source; null leaves the image out. */
  readonly image: ((source: Source, folder: string) => Promise<BuiltImage>) | null;
}

/**
 * Makes a release of a tag: source, image, packages, provenance, digests, signature, and the
 * program that checks them. The same tag, base and key give the same bytes. A release that fails
 * leaves nothing.
 * @throws {NotReleasable} for a tag or folder that cannot be used
 */
export async function writeRelease(options: ReleaseOptions): Promise<Source> {
  const { project, tag, out } = options;
  if (existsSync(out) && readdirSync(out).length > 0)
    throw new NotReleasable(`${out} is not empty`);
  const source = await readSource(project, tag);
  // Beside the folder that it becomes, because a folder is not renamed across file systems.
  const parent = dirname(resolve(out));
  mkdirSync(parent, { recursive: true });
  const unfinished = mkdtempSync(join(parent, ".farebox-release-"));
  try {
    const files = join(unfinished, "files");
    mkdirSync(files);
    await writeFiles(source, options, files);
    renameSync(files, out);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return source;
}

async function writeFiles(source: Source, options: ReleaseOptions, out: string): Promise<void> {
  const name = `farebox-${source.version}`;
  writeFileSync(join(out, `${name}.tar.gz`), source.archive);
  const place = temporaryFolder("farebox-release-");
  try {
    await must(["tar", "-xzf", join(out, `${name}.tar.gz`), "-C", place.path]);
    const folder = join(place.path, name);
    writeFileSync(join(out, `${name}.cdx.json`), await sbomOf(source, folder));
    const image = (await options.image?.(source, folder)) ?? null;
    if (image !== null) copyFileSync(image.file, join(out, `${name}-image.tar`));
    const lock = digestOf(readFileSync(join(folder, "package-lock.json")));
    const provenance = provenanceOf(source, await digestsOf(out), {
      lock,
      base: image?.base ?? null,
    });
    writeFileSync(join(out, `${name}.provenance.json`), provenance);
    copyFileSync(join(folder, "scripts/release/verify"), join(out, "verify"));
  } finally {
    place.remove();
  }
  const sums = [...(await digestsOf(out))].map(([file, digest]) => `${digest}  ${file}\n`).join("");
  writeFileSync(join(out, "SHA256SUMS"), sums);
  if (options.key === null) return;
  writeFileSync(join(out, "SHA256SUMS.sig"), options.key.sign(sums));
  writeFileSync(join(out, "release.pub"), options.key.publicPem);
}

/** The SHA-256 of each file of a folder, in the order of names. Files may be larger than memory. */
async function digestsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const name of readdirSync(folder).sort()) {
    const hash = new Bun.CryptoHasher("sha256");
    for await (const piece of Bun.file(join(folder, name)).stream()) hash.update(piece);
    digests.set(name, hash.digest("hex"));
  }
  return digests;
}
