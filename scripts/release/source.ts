// The source of a release: a tag of git, as an archive that is the same on each machine.

import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { must } from "../deploy/tools.ts";

/** A tag that may be released. */
export interface Source {
  readonly tag: string;
  readonly version: string;
  readonly commit: string;
  /** The time of the commit, in seconds, which takes the place of the present in every file. */
  readonly epoch: number;
  /** A tar of the commit's files below `farebox-VERSION/`, compressed. */
  readonly archive: Uint8Array;
}

/** Thrown for a tag that cannot be released, with the reason. */
export class NotReleasable extends Error {
  override name = "NotReleasable";
}

/**
 * Reads a tag. The version of the package, the version of the chart and a dated section of the
 * changelog must agree with it.
 * @param project a folder of a git repository
 * @throws {NotReleasable} naming the files that do not agree
 */
export async function readSource(project: string, tag: string): Promise<Source> {
  const git = (...args: readonly string[]) => must(["git", ...args], { cwd: project });
  const version = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/.exec(tag)?.[1];
  if (version === undefined) throw new NotReleasable(`${tag} is no tag such as v1.2.3`);
  const commit = (
    await git("rev-parse", "--verify", `refs/tags/${tag}^{commit}`).catch(() => {
      throw new NotReleasable(`There is no tag ${tag}`);
    })
  ).trim();
  const file = (path: string) => git("show", `${commit}:${path}`);
  const named = JSON.parse(await file("package.json")) as { readonly version: string };
  const lock = JSON.parse(await file("package-lock.json")) as { readonly version: string };
  const chart = Bun.YAML.parse(await file("deploy/helm/farebox/Chart.yaml")) as {
    readonly appVersion: string;
  };
  const versions = {
    "package.json": named.version,
    "package-lock.json": lock.version,
    "Chart.yaml": String(chart.appVersion),
  };
  for (const [name, found] of Object.entries(versions)) {
    if (found !== version) throw new NotReleasable(`${name} has version ${found}, not ${version}`);
  }
  const title = `## ${version} - `;
  const line = (await file("CHANGELOG.md")).split("\n").find((text) => text.startsWith(title));
  if (!/ - \d{4}-\d{2}-\d{2}$/.test(line ?? "")) {
    throw new NotReleasable(`CHANGELOG.md has no section '${title}YYYY-MM-DD'`);
  }
  const epoch = Number(await git("show", "--no-patch", "--format=%ct", commit));
  return { tag, version, commit, epoch, archive: await archiveOf(project, commit, version) };
}

/** The compressor of Node writes no time and no name, which the program `gzip` does. */
async function archiveOf(project: string, commit: string, version: string): Promise<Uint8Array> {
  const prefix = `--prefix=farebox-${version}/`;
  // A user's own settings would change modes and ends of lines.
  const settings = ["tar.umask=0002", "core.autocrlf=false", "core.eol=lf"];
  const git = ["git", ...settings.flatMap((setting) => ["-c", setting])];
  const child = Bun.spawn([...git, "archive", "--format=tar", prefix, commit], {
    cwd: project,
    stdout: "pipe",
  });
  const tar = await new Response(child.stdout).bytes();
  if ((await child.exited) !== 0) throw new Error(`git archive ${commit} failed`);
  return gzipSync(tar, { level: 9 });
}

/** SHA-256 in hex. */
export function digestOf(content: Uint8Array | string): string {
  return createHash("sha256").update(content).digest("hex");
}
