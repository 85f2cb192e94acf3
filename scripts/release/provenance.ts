// The origin of the files of a release, as an in-toto statement with the predicate of SLSA.

import type { Source } from "./source.ts";

/** The inputs of the files besides the source. */
export interface Materials {
  /** SHA-256 of the lock file, which has the digest of every package. */
  readonly lock: string;
  /** The image that ours is based on, and its digest; null if no image was built. */
  readonly base: { readonly name: string; readonly digest: string } | null;
}

/**
 * Makes the statement. The statement has no time and no number of a run, so that a second run makes
 * the same.
 * @param subjects the files by name, with their SHA-256
 */
export function provenanceOf(
  source: Source,
  subjects: ReadonlyMap<string, string>,
  { lock, base }: Materials,
): string {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: [...subjects].map(([name, sha256]) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://farebox.example/release/v1",
        externalParameters: { tag: source.tag },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: source.commit } },
          { name: "package-lock.json", digest: { sha256: lock } },
          ...(base === null ? [] : [{ name: base.name, digest: { sha256: base.digest } }]),
        ],
      },
      runDetails: { builder: { id: "https://farebox.example/release/npm-run-release" } },
    },
  };
  return `${JSON.stringify(statement, null, 2)}\n`;
}
