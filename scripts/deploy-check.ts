// `npm run deploy:check`: checks the files of deploy/ with the tools made for them, if these are
// installed. It says what could not be checked; with CI set, that is a failure.

import { join } from "node:path";

const PROJECT = join(import.meta.dir, "..");

interface Check {
  readonly what: string;
  readonly program: string;
  readonly args: readonly string[];
  /** A command that succeeds if the program can do the check; by default it only has to exist. */
  readonly probe?: readonly string[];
}

const CHECKS: readonly Check[] = [
  { what: "deploy/Dockerfile", program: "hadolint", args: ["deploy/Dockerfile"] },
  {
    what: "deploy/compose.yaml",
    program: "docker",
    probe: ["compose", "version"],
    args: ["compose", "-f", "deploy/compose.yaml", "config", "--quiet", "--no-interpolate"],
  },
  {
    what: "deploy/prometheus/alerts.yml",
    program: "promtool",
    args: ["check", "rules", "deploy/prometheus/alerts.yml"],
  },
  {
    what: "deploy/systemd",
    program: "systemd-analyze",
    args: [
      "verify",
      "deploy/systemd/farebox-api@.service",
      "deploy/systemd/farebox-worker.service",
    ],
  },
];

let failed = 0;
function canRun({ program, probe }: Check): boolean {
  if (Bun.which(program) === null) return false;
  return probe === undefined || Bun.spawnSync([program, ...probe]).success;
}

for (const check of CHECKS) {
  const { what, program, args } = check;
  if (!canRun(check)) {
    console.log(`not checked  ${what}: ${program} is not installed`);
    if (process.env.CI) failed += 1;
    continue;
  }
  const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd: PROJECT });
  console.log(`${exitCode === 0 ? "ok         " : "FAILED     "}  ${what} (${program})`);
  if (exitCode === 0) continue;
  failed += 1;
  console.log(`${stdout}${stderr}`);
}
process.exitCode = failed === 0 ? 0 : 1;
