// `npm run packages`: refuses versions of packages that were published in the last days (D-829):
// of those that the last change of the lock file brought.
//
//   --all          of all that came in those days
//   --signatures   also has npm check the signatures of the registry

import { must, run } from "./deploy/tools.ts";
import { PROJECT } from "./local/home.mjs";
import { AGE_DAYS_MIN, addedVersions, tooYoung } from "./release/package-ages.ts";

const LOCK = "package-lock.json";

const base = await earlierLock();
if (base === null) {
  console.log(`not checked  ages of packages: git has no earlier ${LOCK}`);
} else {
  const added = addedVersions(base, await Bun.file(`${PROJECT}/${LOCK}`).text());
  const young = await tooYoung(added, new Date(), timesOf);
  for (const line of young) console.error(line);
  if (young.length > 0) process.exitCode = 1;
  else console.log(`ok           ages of packages: ${added.length} new ones are old enough`);
}
if (process.argv.includes("--signatures")) await checkSignatures();

/** The lock file before the changes that are looked at; null without the history of git. */
async function earlierLock(): Promise<string | null> {
  const commit = await (process.argv.includes("--all") ? commitDaysAgo() : commitBeforeChange());
  const file = await run(["git", "show", `${commit}:${LOCK}`], { cwd: PROJECT });
  return file.exitCode === 0 ? file.stdout : null;
}

/** The last commit that is old enough for whatever it has. */
async function commitDaysAgo(): Promise<string> {
  const before = `--before=${AGE_DAYS_MIN} days ago`;
  return (await run(["git", "rev-list", "-1", before, "HEAD"], { cwd: PROJECT })).stdout.trim();
}

/** The commit before the last change of the lock file, which may not be committed yet. */
async function commitBeforeChange(): Promise<string> {
  const same = await run(["git", "diff", "--quiet", "HEAD", "--", LOCK], { cwd: PROJECT });
  if (same.exitCode !== 0) return "HEAD";
  const since = `--since=${AGE_DAYS_MIN} days ago`;
  const changed = ["git", "rev-list", "-1", since, "HEAD", "--", LOCK];
  const commit = (await run(changed, { cwd: PROJECT })).stdout.trim();
  return commit === "" ? "HEAD" : `${commit}^`;
}

/** When each version of a package was published, as the registry says. */
async function timesOf(name: string): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await must(["npm", "view", name, "time", "--json"], { cwd: PROJECT }));
}

async function checkSignatures(): Promise<void> {
  const { exitCode, stdout, stderr } = await run(["npm", "audit", "signatures"], { cwd: PROJECT });
  console.log(exitCode === 0 ? stdout : `FAILED       npm audit signatures\n${stdout}${stderr}`);
  if (exitCode !== 0) process.exitCode = 1;
}
