// `npm run packages`: refuses versions of packages that were published in the last days (D-829): of
// those that the last change of the lock file brought. A version that the registry does not answer
// for is "not checked".
//
//   --all          of all that came in those days; before a release, "not checked" is a failure
//   --signatures   also has npm check the signatures of the registry

import { run } from "./deploy/tools.ts";
import { PROJECT } from "./local/home.mjs";
import { earlierLock, LOCK } from "./release/earlier-lock.ts";
import { addedVersions, tooYoung } from "./release/package-ages.ts";
import { checkSignatures, type Npm, RegistryAway, timesOf } from "./release/registry.ts";

const AGES = "ages of packages";
const SIGNATURES = "signatures of packages";
const isAll = process.argv.includes("--all");
const npm: Npm = (args) => run(["npm", ...args], { cwd: PROJECT });

await checkAges();
if (process.argv.includes("--signatures")) await checkAllSignatures();

async function checkAges(): Promise<void> {
  const base = await earlierLock(PROJECT, { isAll });
  if (base === null) return notChecked(AGES, `git has no earlier ${LOCK}`);
  const added = addedVersions(base, await Bun.file(`${PROJECT}/${LOCK}`).text());
  try {
    const young = await tooYoung(added, new Date(), (name) => timesOf(npm, name));
    if (young.length > 0) failed(AGES, young.join("\n"));
    else console.log(`ok           ${AGES}: ${added.length} new ones are old enough`);
  } catch (error) {
    if (!(error instanceof RegistryAway)) throw error;
    notChecked(AGES, error.message);
  }
}

async function checkAllSignatures(): Promise<void> {
  const found = await checkSignatures(npm);
  if (found.is === "right") console.log(`ok           ${SIGNATURES}`);
  else if (found.is === "wrong") failed(SIGNATURES, found.words);
  else notChecked(SIGNATURES, found.words);
}

function failed(what: string, words: string): void {
  console.error(`FAILED       ${what}\n${words}`);
  process.exitCode = 1;
}

function notChecked(what: string, why: string): void {
  console.log(`not checked  ${what}: ${why}`);
  if (isAll) process.exitCode = 1;
}
