// Holds the files of deploy/ against the tools that know them.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../local/home.mjs";
import { temporaryFolder } from "../local/processes.mjs";
import type { Report } from "./report.ts";
import { type ProgramResult, run, which } from "./tools.ts";

/** The folder of the chart, in the project. */
export const CHART = "deploy/helm/farebox";
/** The version of Kubernetes that the manifests are written for; the chart needs 1.30. */
export const KUBERNETES = "1.34";

interface Check {
  readonly what: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const CHECKS: readonly Check[] = [
  { what: "deploy/Dockerfile", program: "hadolint", args: ["deploy/Dockerfile"] },
  {
    what: "deploy/compose.yaml",
    program: "compose-go",
    args: ["-no-interpolation", "deploy/compose.yaml"],
  },
  {
    what: "deploy/Caddyfile",
    program: "caddy",
    args: ["validate", "--adapter", "caddyfile", "--config", "deploy/Caddyfile"],
    env: { SITE: "farebox.example" },
  },
  {
    what: "deploy/prometheus/alerts.yml",
    program: "promtool",
    args: ["check", "rules", "deploy/prometheus/alerts.yml"],
  },
  {
    what: "deploy/prometheus/prometheus.yml",
    program: "promtool",
    args: ["check", "config", "deploy/prometheus/prometheus.yml"],
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
  { what: CHART, program: "helm", args: ["lint", CHART, "--strict"] },
];

/** Values that the chart is rendered with, by their name in the output. */
const RENDERINGS: Readonly<Record<string, readonly string[]>> = {
  "with its defaults": [],
  "with everything on": ["--values", "deploy/helm/check-values.yaml"],
};

/** Checks each file whose tool is installed. */
export async function checkFiles(report: Report): Promise<void> {
  for (const { what, program, args, env = {} } of CHECKS) {
    if (which(program) === null) report.missing(what, `${program} is not installed`);
    else show(report, `${what} (${program})`, await run([program, ...args], { cwd: PROJECT, env }));
  }
  for (const [name, values] of Object.entries(RENDERINGS)) {
    await checkManifests(report, name, values);
  }
}

/** Renders the chart, and checks the result against the schemas of Kubernetes. */
async function checkManifests(
  report: Report,
  name: string,
  values: readonly string[],
): Promise<void> {
  const what = `${CHART} ${name}`;
  const absent = ["helm", "kubernetes-validate"].find((program) => which(program) === null);
  if (absent !== undefined) return report.missing(what, `${absent} is not installed`);
  const rendered = await renderChart("farebox", values);
  if (rendered.exitCode !== 0) return show(report, `${what} (helm template)`, rendered);
  const folder = temporaryFolder("farebox-manifests-");
  try {
    const file = join(folder.path, "manifests.yaml");
    writeFileSync(file, rendered.stdout);
    const args = ["--strict", "--quiet", "-k", KUBERNETES, file];
    show(report, `${what} (kubernetes-validate)`, await run(["kubernetes-validate", ...args]));
  } finally {
    folder.remove();
  }
}

/**
 * Renders the chart as a cluster would get it.
 * @param release the name of the installation
 */
export function renderChart(release: string, args: readonly string[]): Promise<ProgramResult> {
  const version = ["--kube-version", `${KUBERNETES}.0`];
  return run(["helm", "template", release, CHART, ...version, ...args], { cwd: PROJECT });
}

function show(report: Report, what: string, { exitCode, stdout, stderr }: ProgramResult): void {
  if (exitCode === 0) report.ok(what);
  else report.fail(what, stdout + stderr);
}
