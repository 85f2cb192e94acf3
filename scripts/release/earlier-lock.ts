// The lock file that the present one is compared with, from the history of git.

import { run } from "../deploy/tools.ts";
import { AGE_DAYS_MIN } from "./package-ages.ts";

export const LOCK = "package-lock.json";

/**
 * Returns the lock file before the changes that are looked at; null if the history has none.
 * @param project the folder of a git repository
 * @param options with `isAll` before all changes of the last days, else before the last one of them
 */
export async function earlierLock(
  project: string,
  { isAll }: { readonly isAll: boolean },
): Promise<string | null> {
  const git = (...args: readonly string[]) => run(["git", ...args], { cwd: project });
  const commit = await (isAll ? commitDaysAgo(git) : commitBeforeChange(git));
  // Without a commit git would show the file of the index.
  if (commit === "") return null;
  const file = await git("show", `${commit}:${LOCK}`);
  return file.exitCode === 0 ? file.stdout : null;
}

type Git = (...args: readonly string[]) => ReturnType<typeof run>;

/** The last commit that is old enough for whatever it has; empty if all are younger. */
async function commitDaysAgo(git: Git): Promise<string> {
  const before = `--before=${AGE_DAYS_MIN} days ago`;
  return (await git("rev-list", "-1", before, "HEAD")).stdout.trim();
}

/** The commit before the last change of the lock file: HEAD if that change is not committed. */
async function commitBeforeChange(git: Git): Promise<string> {
  const same = await git("diff", "--quiet", "HEAD", "--", LOCK);
  if (same.exitCode !== 0) return "HEAD";
  const since = `--since=${AGE_DAYS_MIN} days ago`;
  const commit = (await git("rev-list", "-1", since, "HEAD", "--", LOCK)).stdout.trim();
  return commit === "" ? "HEAD" : `${commit}^`;
}
