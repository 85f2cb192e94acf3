// Checks that the usual parts of a repository exist, and that no link in a page is dead.

import { expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { headingAnchor } from "../../../src/core/text/heading-anchor.ts";
import { allPages } from "../../../src/site/docs/library.ts";

const PLACES = ["*.md", "docs/**/*.md", "test/*.md", "examples/**/*.md", ".github/**/*.md"];
const PAGES = PLACES.flatMap((place) => [
  ...new Bun.Glob(place).scanSync({ cwd: PROJECT, dot: true }),
]).filter((page) => !page.includes("node_modules/"));

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  /** The package's address at one registry; npm uses the registry that is configured. */
  readonly resolved?: string;
  readonly link?: boolean;
}

function read(path: string): string {
  return readFileSync(join(PROJECT, path), "utf8");
}

test("every package of the lock file has a checksum, and only registries are asked for it", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const locked = Object.entries(packages).filter(([path]) => path !== "");
  expect(locked.length).toBeGreaterThan(500);
  const loose = locked.filter(([, { integrity = "", link, version, resolved }]) => {
    const isPinned = /^\d+\.\d+\.\d+/.test(version ?? "") && resolved === undefined;
    return link === true || !isPinned || !/^sha512-[\w+/]{86}==$/.test(integrity);
  });
  expect(loose.map(([path]) => path)).toEqual([]);
});

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => headingAnchor(heading));
}

/** Links of a page to missing files of the project, or to missing headings. */
function deadLinks(page: string): string[] {
  const prose = read(page).replaceAll(/^```[\s\S]*?^```$/gm, "");
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(PROJECT, file))) return true;
    if (anchor === undefined) return false;
    return statSync(join(PROJECT, file)).isDirectory() || !anchorsOf(file).includes(anchor);
  });
}

test("there are pages with links to check", () => {
  expect(PAGES).toContain("docs/README.md");
  expect(PAGES).toContain("CONTRIBUTING.md");
});

for (const page of PAGES) {
  test(`${page} has no link that leads nowhere`, () => {
    expect(deadLinks(page)).toEqual([]);
  });
}

test("the index names every page of the documentation", () => {
  const index = read("docs/README.md");
  const pages = [...new Bun.Glob("*.md").scanSync({ cwd: join(PROJECT, "docs") })];
  expect(pages.filter((page) => page !== "README.md" && !index.includes(`(${page})`))).toEqual([]);
});

test("the image has every page of the documentation site", () => {
  const left = read(".dockerignore").split("\n").filter(Boolean);
  const isLeft = (file: string) => left.some((one) => file === one || file.startsWith(`${one}/`));
  expect(allPages().filter(({ file }) => isLeft(file))).toEqual([]);
});

test("the license is the whole one that package.json names", () => {
  expect(JSON.parse(read("package.json"))).toMatchObject({ license: "Apache-2.0" });
  const license = read("LICENSE");
  expect(license).toContain("Apache License\n                           Version 2.0");
  expect(license).toContain("9. Accepting Warranty or Additional Liability.");
  expect(license).toContain("END OF TERMS AND CONDITIONS");
});

test("the workflow of GitHub runs the script of CI, and takes actions by their commits", () => {
  const workflow = Bun.YAML.parse(read(".github/workflows/ci.yml")) as {
    jobs: { check: { steps: { run?: string; uses?: string }[] } };
  };
  const { steps } = workflow.jobs.check;
  expect(steps.flatMap(({ run }) => run ?? [])).toEqual([".ci/run"]);
  const actions = steps.flatMap(({ uses }) => uses ?? []);
  expect(actions.length).toBeGreaterThan(0);
  for (const action of actions) expect(action).toMatch(/^actions\/[a-z-]+@[0-9a-f]{40}$/);
});

test("every issue form asks for something", () => {
  const all = new Bun.Glob(".github/ISSUE_TEMPLATE/*.yml").scanSync({ cwd: PROJECT, dot: true });
  const forms = [...all].filter((form) => !form.endsWith("config.yml"));
  expect(forms.length).toBeGreaterThan(0);
  for (const form of forms) {
    const { name, body } = Bun.YAML.parse(read(form)) as {
      name: string;
      body: { validations?: { required?: boolean } }[];
    };
    expect(name.length).toBeGreaterThan(0);
    expect(body.some(({ validations }) => validations?.required === true)).toBe(true);
  }
});
