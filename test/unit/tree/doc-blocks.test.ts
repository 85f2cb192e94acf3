// Checks that every code block of every page is proven by something: JSON fits its schema;
// commands, calls and programs are run by test/product/api/doc-commands.test.ts; and whatever else
// there is says which test has it, or why none does (D-768).

import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { PROJECT } from "../../../scripts/local/home.mjs";
import { parseCommandLine } from "../../../src/cli/commands.ts";
import { PROCESSES } from "../../../src/cli/help.ts";
import { DOCUMENTED } from "../../../src/routes.ts";
import { parseCatalogue } from "../../../src/settings/catalogue-file.ts";
import { misfit } from "../../support/api/contract.ts";
import {
  commandsOf,
  type DocBlock,
  docBlocks,
  hasCommands,
  isRunHere,
  reasonNotRun,
  testOf,
  toolArguments,
} from "../../support/doc-blocks.ts";
import { serviceAccountAt } from "../../support/fakes/wire/wire-forms.ts";

/** Pages whose blocks one test takes as they stand. */
const WHOLE_PAGES: Readonly<Record<string, string>> = {
  "CONTRIBUTING.md": "test/product/walkthrough/contributing.test.ts",
  "docs/webhooks.md": "test/unit/core/webhook-examples.test.ts",
};
/** The suites that run a client as its page says; each client is named as in the page's title. */
const CLIENT_PAGE = /^docs\/clients\//;
const CLIENT_SUITES = [
  "test/product/clients/agents/agents.ts",
  "test/product/clients/run-clients.ts",
];
const REASON_LENGTH_MIN = 15;
const REQUEST_ID = "req_0351Ki6Po6Ze8c7RSniYDy";
const NOW = Date.parse("2026-11-28");

const blocks = docBlocks();
const place = ({ page, line }: DocBlock) => `${page}:${line}`;
const isJson = ({ info }: DocBlock) => info.split(" ")[0] === "json";
const isYaml = ({ info }: DocBlock) => info.split(" ")[0] === "yaml";
/** Words in the form of code: pictures and messages. */
const isText = ({ info }: DocBlock) => info === "text";

/** Programs, which the test of commands runs. */
const isProgram = ({ info }: DocBlock) => info === "js";

/** The proof of a block; null without one. */
function proofOf(block: DocBlock): string | null {
  const { page, isGenerated } = block;
  if (isGenerated) return "npm run docs";
  const reason = reasonNotRun(block);
  if (reason !== null) return reason.length < REASON_LENGTH_MIN ? null : reason;
  if (CLIENT_PAGE.test(page)) return CLIENT_SUITES.find((file) => runsClient(file, page)) ?? null;
  const file = testOf(block) ?? WHOLE_PAGES[page];
  if (file !== undefined) return isAbout(file, page) ? file : null;
  const isProven = [isText, isJson, isProgram, isRunHere].some((is) => is(block));
  return isProven ? "this file, or the test of commands" : null;
}

/** True if a test exists and names the page. */
function isAbout(file: string, page: string): boolean {
  const path = join(PROJECT, file);
  return existsSync(path) && readFileSync(path, "utf8").includes(basename(page));
}

function runsClient(file: string, page: string): boolean {
  const [, name = ""] =
    /^# Use it with (.*)$/m.exec(readFileSync(join(PROJECT, page), "utf8")) ?? [];
  return readFileSync(join(PROJECT, file), "utf8").includes(`"${name}"`);
}

test("every code block is proven, or says why not", () => {
  expect(blocks.length).toBeGreaterThan(80);
  expect(blocks.filter((block) => proofOf(block) === null).map(place)).toEqual([]);
});

const ofCommands = blocks.filter(hasCommands);
const run = ofCommands.filter((block) => reasonNotRun(block) === null);

test(`${run.length} of ${ofCommands.length} blocks of commands run; the others say why not`, () => {
  expect(run.length).toBeGreaterThan(60);
  expect(run.filter((block) => proofOf(block) === null)).toEqual([]);
});

describe("a command of the tool", () => {
  const ids = {
    acct: "acct_7n42DGM5Tflk9n8mt7Fhc7",
    key: "key_7n42DGM5Tflk9n8mt7Fhc7",
    hook: "hook_7n42DGM5Tflk9n8mt7Fhc7",
  };
  const commands = blocks.flatMap((block) =>
    commandsOf(block).flatMap((line) => {
      const args = toolArguments(
        line.replaceAll(/\b(acct|key|hook)_…/g, (_, kind: "acct") => ids[kind]),
      );
      return args === null ? [] : [[`${place(block)} farebox ${args.join(" ")}`, args] as const];
    }),
  );

  test("is in many pages", () => expect(commands.length).toBeGreaterThan(30));

  test.each(commands)("%s exists with these options", (_, args) => {
    const isProcess = PROCESSES.some(([name]) => name === args[0]);
    if (!isProcess) expect(parseCommandLine(args, NOW).kind).toStartWith("run");
  });
});

describe("JSON and YAML", () => {
  const documents = blocks.filter(
    (block) => (isJson(block) || isYaml(block)) && !block.isGenerated,
  );

  test("stand in many pages", () => expect(documents.length).toBeGreaterThan(10));

  test.each(documents.map((block) => [place(block), block] as const))(
    "at %s is valid",
    (_, block) => {
      if (isYaml(block)) expect(Bun.YAML.parse(block.text)).toBeObject();
      else if (/^(?:not run|tested): /.test(block.comment)) expect(jsonOf(block)).toBeObject();
      else expect(problemOf(jsonOf(block))).toBeNull();
    },
  );
});

/** The value of a block. Some are a part of an object, without its braces. */
function jsonOf({ text }: DocBlock): Record<string, unknown> {
  const whole = text.replaceAll("req_…", REQUEST_ID);
  return JSON.parse(/^\s*"/.test(whole) ? `{${whole}}` : whole);
}

const REPLIES: Readonly<Record<string, string>> = {
  search: "/v1/search",
  "maps.result": "/v1/maps",
};

/** The reason why a value is no good configuration, reply, or settings of a client; else null. */
function problemOf(value: Record<string, unknown>): string | null {
  if ("mcpServers" in value || ("$schema" in value && String(value.$schema).startsWith("https:"))) {
    return null;
  }
  const path = REPLIES[String(value.object)];
  if (path !== undefined) {
    const endpoint = DOCUMENTED.gateway.find((one) => one.path === path);
    return endpoint === undefined ? `no ${path}` : misfit(endpoint.reply, value);
  }
  const text = JSON.stringify(configurationOf(value));
  try {
    parseCatalogue(text, environmentOf(text));
    return null;
  } catch (error) {
    return String(error);
  }
}

const MAIN = { base_url: "https://models.example.com/v1" };
const PRICING = [{ input_usd_per_m: "1", output_usd_per_m: "2" }];
/** Fields of a model, which pages show without the rest of it. */
const OF_MODELS = ["prices", "routes", "spread", "fees"];

/** A whole configuration with this part in its place. */
function configurationOf(part: Record<string, unknown>): object {
  const { prices, fees, routes, spread, markup_percent: _, ...sections } = part;
  const isOfModel = OF_MODELS.some((field) => field in part);
  const model = (id: string, more: object) => ({
    id,
    label: id,
    family: "swift",
    owned_by: "example",
    context_length: 200_000,
    free_credit_eligible: false,
    ...("prices" in more ? {} : { pricing: PRICING }),
    routes: [{ provider: "main", model: id }],
    ...more,
  });
  if (fees !== undefined) return configurationOf({ prices: [part] });
  const given = {
    ...(prices !== undefined && { prices }),
    ...(routes !== undefined && { routes }),
  };
  const models = isOfModel
    ? [model("swift-1", { ...given, ...(spread !== undefined && { spread }) })]
    : [];
  return {
    providers: { main: MAIN, spare: MAIN },
    models: [
      ...models,
      ...("auto" in part ? ["swift-1", "deep-2"].map((id) => model(id, {})) : []),
    ],
    ...(isOfModel ? {} : sections),
  };
}

/** Every variable that a text names, with a value that is right for it. */
function environmentOf(text: string): Record<string, string> {
  const names = [...text.matchAll(/_env":"(\w+)"/g)].map(([, name = ""]) => name);
  const { clientEmail, privateKey } = serviceAccountAt("https://oauth2.googleapis.com/token");
  const file = JSON.stringify({ client_email: clientEmail, private_key: privateKey });
  return Object.fromEntries(
    names.map((name) => [name, name.includes("SERVICE_ACCOUNT") ? file : `key-of-${name}`]),
  );
}
