// Checks that the files of deploy/ and their pages name only existing things.

import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BUN_SETTINGS } from "../../../scripts/bun-settings.mjs";
import { temporaryFolder } from "../../../scripts/local/processes.mjs";
import { SERVER_VARIABLES, STORE_VARIABLES } from "../../../src/settings/variables.ts";

const PROJECT = join(import.meta.dir, "../../..");
const CHART = "deploy/helm/farebox";
const ALERTS = read("deploy/prometheus/alerts.yml");

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly annotations: { readonly runbook: string };
    }[];
  }[];
}
const rules = (Bun.YAML.parse(ALERTS) as Rules).groups.flatMap((group) => group.rules);

function read(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

test("every alert has its section in the runbook, and every section its alert", () => {
  const sections = [...read("docs/runbook.md").matchAll(/^## (.+)$/gm)].map(([, title = ""]) =>
    title.toLowerCase().replaceAll(" ", "-"),
  );
  const named = new Set(rules.map(({ annotations }) => annotations.runbook));
  expect([...named].sort()).toEqual(sections.sort());
});

test("a job without any process left has an alert", () => {
  const scraped = Bun.YAML.parse(read("deploy/prometheus/prometheus.yml")) as {
    readonly scrape_configs: readonly { readonly job_name: string }[];
  };
  const absent = scraped.scrape_configs.filter(({ job_name }) => {
    return !rules.some(({ expr }) => expr === `absent(up{job="${job_name}"} == 1)`);
  });
  expect(absent).toEqual([]);
});

test("containers and units set only variables that Farebox reads", () => {
  const known = new Set([
    ...Object.keys(STORE_VARIABLES),
    ...Object.keys(SERVER_VARIABLES),
    ...Object.keys(BUN_SETTINGS),
    ...Object.keys(STORE_VARIABLES).map((name) => `${name}_FILE`),
  ]);
  const units = readdirSync(join(PROJECT, "deploy/systemd")).map((name) =>
    read(join("deploy/systemd", name)),
  );
  const inUnits = units.flatMap((text) =>
    [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = ""]) => [
      ...line.matchAll(/(\w+)=/g),
    ]),
  );
  const compose = Bun.YAML.parse(read("deploy/compose.yaml")) as {
    readonly "x-farebox": { readonly environment: Readonly<Record<string, string>> };
  };
  const image = [...read("deploy/Dockerfile").matchAll(/^(?:ENV|\s{4})\s*(\w+)=/gm)];
  const set = [
    ...Object.keys(compose["x-farebox"].environment),
    ...[...inUnits, ...image].map(([, name = ""]) => name),
  ];
  expect(set.length).toBeGreaterThan(8);
  expect(set.filter((name) => !known.has(name))).toEqual([]);
});

test("the tool for root has the settings of the units", async () => {
  const folder = temporaryFolder("farebox-tool-");
  const at = (path: string) => join(folder.path, path);
  const moved = (text: string) =>
    text.replaceAll(/\/(?:etc|opt|var\/lib)\/farebox/g, (path) => at(path));
  for (const path of ["etc/farebox", "opt/farebox/scripts"])
    mkdirSync(at(path), { recursive: true });
  writeFileSync(at("etc/farebox/farebox.env"), "DATABASE_URL='postgres://a:$b&c@d/e'\n");
  writeFileSync(at("etc/farebox/session_secret"), "");
  const shown = "console.log(JSON.stringify([process.env, process.argv.slice(2)]))";
  writeFileSync(at("opt/farebox/scripts/farebox.mjs"), shown);
  writeFileSync(at("farebox"), moved(read("deploy/systemd/farebox")));
  try {
    const tool = Bun.spawn(["sh", at("farebox"), "audit", "a b"], {
      env: { PATH: process.env.PATH ?? "" },
    });
    const [env, args] = JSON.parse(await new Response(tool.stdout).text());
    expect(args).toEqual(["audit", "a b"]);
    expect(env.DATABASE_URL).toBe("postgres://a:$b&c@d/e");
    for (const unit of ["farebox-api@.service", "farebox-worker.service"]) {
      const text = moved(read(join("deploy/systemd", unit)));
      const files = [...text.matchAll(/^#?LoadCredential=(\w+):(.*)$/gm)];
      expect(files).toHaveLength(3);
      for (const [, name = "", file] of files) expect(env[`${name.toUpperCase()}_FILE`]).toBe(file);
      expect(text).toContain(`Environment=FAREBOX_DATA=${env.FAREBOX_DATA} `);
    }
  } finally {
    folder.remove();
  }
});

test("the SearXNG of the compose file answers requests for JSON", () => {
  const { searxng } = (
    Bun.YAML.parse(read("deploy/compose.yaml")) as {
      readonly services: { readonly searxng: { readonly volumes: readonly string[] } };
    }
  ).services;
  const [source, target] = searxng.volumes[0]?.split(":") ?? [];
  expect(target).toBe("/etc/searxng/settings.yml");
  const settings = Bun.YAML.parse(read(join("deploy", source ?? "")));
  expect(settings).toMatchObject({ search: { formats: ["html", "json"] } });
});

test("the chart sets only variables that Farebox reads, secrets as files", () => {
  const templates = new Bun.Glob("*").scanSync({ cwd: join(PROJECT, CHART, "templates") });
  const text = [...templates].map((name) => read(join(CHART, "templates", name))).join("\n");
  const names = [...text.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map(([, name = ""]) => name);
  const values = Bun.YAML.parse(read(join(CHART, "values.yaml"))) as {
    readonly secret: { readonly keys: readonly string[] };
  };
  const known = new Set([...Object.keys(STORE_VARIABLES), ...Object.keys(SERVER_VARIABLES)]);
  expect(names.length).toBeGreaterThan(4);
  expect([...names, ...values.secret.keys].filter((name) => !known.has(name))).toEqual([]);
  const secrets = Object.entries({ ...STORE_VARIABLES, ...SERVER_VARIABLES })
    .filter(([, variable]) => "isSecret" in variable)
    .map(([name]) => name);
  expect(values.secret.keys.filter((name) => !secrets.includes(name))).toEqual([]);
});

test("a pod of the chart has as much time as its calls may take", () => {
  const api = read(join(CHART, "templates/api.yaml"));
  const schema = JSON.parse(read(join(CHART, "values.schema.json"))).properties.api.properties;
  const grace = Number(/terminationGracePeriodSeconds: (\d+)/.exec(api)?.[1]);
  const sleep = Number(/sleep: \{ seconds: (\d+) \}/.exec(api)?.[1]);
  const drain = schema.drainSeconds.maximum + schema.drainNoticeSeconds.maximum;
  // A minute for a Redis that is away.
  expect(sleep + drain + 60).toBe(grace);
});

test("the image gives Bun the settings that npm start gives it", () => {
  const image = read("deploy/Dockerfile");
  for (const [name, value] of Object.entries(BUN_SETTINGS)) {
    expect(image).toMatch(new RegExp(`\\b${name}=${value}\\b`));
  }
});
