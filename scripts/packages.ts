// `npm run packages`: refuses versions of packages that were published in the last days (D-829):
// of those that the last change of the lock file brought.
//
//   --all          of all that came in those days
//   --signatures   also has npm check the signatures of the registry

import { must, run } from "./deploy/tools.ts";
import { PROJECT } from "./local/home.mjs";
import { earlierLock, LOCK } from "./release/earlier-lock.ts";
import { addedVersions, tooYoung } from "./release/package-ages.ts";

const isAll = process.argv.includes("--all");
const base = await earlierLock(PROJECT, { isAll });
if (base === null) {
  console.log(`not checked  ages of packages: git has no earlier ${LOCK}`);
  // Before a release "not checked" is not enough.
  if (isAll) process.exitCode = 1;
} else {
  const added = addedVersions(base, await Bun.file(`${PROJECT}/${LOCK}`).text());
  const young = await tooYoung(added, new Date(), timesOf);
  for (const line of young) console.error(line);
  if (young.length > 0) process.exitCode = 1;
  else console.log(`ok           ages of packages: ${added.length} new ones are old enough`);
}
if (process.argv.includes("--signatures")) await checkSignatures();

/** When each version of a package was published, as the registry says. */
async function timesOf(name: string): Promise<Readonly<Record<string, string>>> {
  return JSON.parse(await must(["npm", "view", name, "time", "--json"], { cwd: PROJECT }));
}

async function checkSignatures(): Promise<void> {
  const { exitCode, stdout, stderr } = await run(["npm", "audit", "signatures"], { cwd: PROJECT });
  console.log(exitCode === 0 ? stdout : `FAILED       npm audit signatures\n${stdout}${stderr}`);
  if (exitCode !== 0) process.exitCode = 1;
}
