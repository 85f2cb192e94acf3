// Finds versions of packages that are younger than the usual life of a stolen release.

/** The least age of a version that is taken, in days. */
export const AGE_DAYS_MIN = 3;
const DAY_MS = 86_400_000;

/** A version of a package. */
export interface PackageVersion {
  readonly name: string;
  readonly version: string;
}

/** The versions that a lock file has and an earlier one has not. */
export function addedVersions(earlier: string, present: string): readonly PackageVersion[] {
  const before = new Set(versionsOf(earlier).map(({ name, version }) => `${name}@${version}`));
  const added = versionsOf(present).filter(
    ({ name, version }) => !before.has(`${name}@${version}`),
  );
  const once = new Map(added.map((added) => [`${added.name}@${added.version}`, added]));
  return [...once.values()];
}

function versionsOf(lock: string): readonly PackageVersion[] {
  const { packages } = JSON.parse(lock) as {
    readonly packages: Readonly<
      Record<string, { readonly name?: string; readonly version: string }>
    >;
  };
  return Object.entries(packages)
    .filter(([path]) => path !== "")
    .map(([path, { name, version }]) => ({
      // A package under another name has its own in the entry.
      name: name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length),
      version,
    }));
}

/**
 * Returns a line for each version that is too young, or that the registry does not have.
 * @param timesOf when the versions of a package were published, in ISO 8601
 */
export async function tooYoung(
  versions: readonly PackageVersion[],
  now: Date,
  timesOf: (name: string) => Promise<Readonly<Record<string, string>>>,
): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { name, version } of versions) {
    const published = (await timesOf(name))[version];
    if (published === undefined) lines.push(`${name}@${version} is not in the registry`);
    // Not "younger than": an unreadable date is NaN, of which each comparison is false.
    else if (!(now.getTime() - Date.parse(published) >= AGE_DAYS_MIN * DAY_MS)) {
      lines.push(
        `${name}@${version} was published ${published}: wait until it is ${AGE_DAYS_MIN} days old`,
      );
    }
  }
  return lines;
}
