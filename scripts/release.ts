// `npm run release -- TAG`: makes the files of a release from a tag (docs/releases.md).
//
//   --rehearse     in place of a tag: releases the last commit from a clone, with a key that is
//                  not kept (D-828)
//   --out FOLDER   where to write them (release/TAG)
//   --base IMAGE   the image with Bun that ours is based on; without it a Debian is laid out
//   --no-image     makes no image, where there is no Podman
//
// RELEASE_KEY_FILE names the private key that signs, of Ed25519, in PEM. Without the key the
// release is not signed, and the commands that sign it are printed. A signed release with an image
// is checked in a container.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openEngine } from "./deploy/engine.ts";
import { PROJECT } from "./local/home.mjs";
import { type ReleaseOptions, writeRelease } from "./release/files.ts";
import { buildTwice, verifyInContainer } from "./release/image.ts";
import { openRehearsal } from "./release/rehearsal.ts";
import { readSigningKey, type SigningKey, signingCommands } from "./release/sign.ts";
import { NotReleasable } from "./release/source.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: "string" },
    base: { type: "string" },
    "no-image": { type: "boolean", default: false },
    rehearse: { type: "boolean", default: false },
  },
});

try {
  if (values.rehearse) await rehearse();
  else await releaseTag();
} catch (error) {
  if (!(error instanceof NotReleasable)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function releaseTag(): Promise<void> {
  const [tag] = positionals;
  if (tag === undefined) throw new NotReleasable("npm run release -- TAG: name a tag");
  const keyFile = process.env.RELEASE_KEY_FILE;
  const key = keyFile ? readSigningKey(readFileSync(keyFile, "utf8")) : null;
  await release({ project: PROJECT, tag, key });
}

async function rehearse(): Promise<void> {
  const [tag] = positionals;
  if (tag !== undefined) throw new NotReleasable("A rehearsal takes the last commit, and no tag");
  using rehearsal = await openRehearsal(PROJECT);
  await release(rehearsal);
}

interface Wish {
  readonly project: string;
  readonly tag: string;
  readonly key: SigningKey | null;
}

async function release({ project, tag, key }: Wish): Promise<void> {
  const out = values.out ?? join(PROJECT, "release", tag);
  const options = { project, tag, out, key };
  if (values["no-image"]) await writeRelease({ ...options, image: null });
  else await withImage(options);
  console.log(`${out} has the release of ${tag}.`);
  if (key !== null) console.log(`Check it: sh scripts/release/verify ${key.fingerprint} ${out}`);
  else console.log(["It is not signed. Sign it:", ...signingCommands("KEY", out)].join("\n  "));
}

async function withImage(options: Omit<ReleaseOptions, "image">): Promise<void> {
  await using engine = await openEngine();
  const { version } = await writeRelease({
    ...options,
    image: (source, folder) => buildTwice(engine, source, { folder, base: values.base ?? null }),
  });
  const { out, key } = options;
  if (key === null) return;
  const checked = { out, version, fingerprint: key.fingerprint };
  console.log(`In a container: ${await verifyInContainer(engine, checked)}`);
}
