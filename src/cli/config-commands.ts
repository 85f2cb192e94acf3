// Commands about the configuration that all processes share: they show it and its history, and
// change it. The environment must hold the keys that the file names, as on the servers.

import { configurationChanges } from "../settings/catalogue-changes.ts";
import { parseCatalogue } from "../settings/catalogue-file.ts";
import { readConfiguration } from "../settings/catalogue-source.ts";
import {
  type Applied,
  Configurations,
  type ConfigurationVersion,
  type NewConfiguration,
} from "../store/operators/configurations.ts";
import { type Answer, type Command, type Input, UsageError } from "./command.ts";
import { missingLimits } from "./missing-limits.ts";
import { indented, utc } from "./print.ts";
import { serverSettings } from "./server-settings.ts";
import { reasonOf } from "./values.ts";

const ACTOR = "command line";
const HISTORY_ROWS = 50;

const NOTE = { value: "TEXT", help: "why; it is kept with the version" } as const;
const EXPECT = {
  value: "N",
  help: "change nothing unless version N is in force; 0 for none",
} as const;
const BEFORE = { value: "N", help: "only versions before this one" } as const;

const apply: Command = {
  name: "config apply",
  positionals: ["FILE"],
  summary: "Put a configuration file in force for all processes; they take it over in seconds",
  options: {
    note: NOTE,
    expect: EXPECT,
    "dry-run": { value: null, help: "only check the file and say what it changes" },
  },
  prepare(input) {
    const path = input.positionals[0] ?? "";
    const more = givenWith(input);
    const isDryRun = input.values.has("dry-run");
    return async ({ database, environment, warn }) => {
      const configurations = new Configurations(database);
      const next = { ...more, text: await readConfiguration(path), rollsBackTo: null };
      const { environment: env } = serverSettings({ environment });
      const describe = configurationChanges(path, env);
      const warnOfLimits = () => {
        const { models } = parseCatalogue(next.text, env, { fileName: path });
        const missing = missingLimits(models.values());
        if (missing !== null) warn(missing);
      };
      if (!isDryRun) {
        const applied = await configurations.apply(next, describe);
        if (applied.applied) warnOfLimits();
        return appliedAnswer(applied);
      }
      const changes = await configurations.preview(next, describe);
      warnOfLimits();
      const text = `${path} is right. Nothing was stored; it would change:\n${linesOf(changes)}`;
      return { json: { applied: false, changes }, text };
    };
  },
};

const rollback: Command = {
  name: "config rollback",
  positionals: ["N"],
  summary: "Put the text of an earlier version in force again, as a new version",
  options: { note: NOTE, expect: EXPECT },
  prepare(input) {
    const version = versionOf("N", input.positionals[0] ?? "", 1);
    const more = givenWith(input);
    return async ({ database, environment }) => {
      const configurations = new Configurations(database);
      const { text } = await configurations.find(version);
      const next = { ...more, text, rollsBackTo: version };
      const name = `version ${version}`;
      const describe = configurationChanges(name, serverSettings({ environment }).environment);
      return appliedAnswer(await configurations.apply(next, describe));
    };
  },
};

const show: Command = {
  name: "config show",
  positionals: [],
  summary: "Print the configuration in force, or a version of it",
  options: { version: { value: "N", help: "this version instead of the one in force" } },
  prepare({ values }) {
    const given = values.get("version");
    const asked = given === undefined ? null : versionOf("--version", given, 1);
    return async ({ database }) => {
      const configurations = new Configurations(database);
      const version = asked ?? (await configurations.list(null, 1))[0]?.version;
      if (version === undefined) return NONE;
      const found = await configurations.find(version);
      return { json: { ...jsonOf(found), text: found.text }, text: found.text.trimEnd() };
    };
  },
};

const history: Command = {
  name: "config history",
  positionals: [],
  summary: "List the versions of the configuration, newest first, and what each changed",
  options: { before: BEFORE },
  prepare({ values }) {
    const given = values.get("before");
    const before = given === undefined ? null : versionOf("--before", given, 1);
    return async ({ database }) => {
      const versions = await new Configurations(database).list(before, HISTORY_ROWS);
      if (versions.length === 0 && before === null) return { ...NONE, json: { versions } };
      return {
        json: { versions: versions.map(jsonOf) },
        text: versions.map(versionText).join("\n\n"),
      };
    };
  },
};

const NONE: Answer = {
  json: { version: null },
  text: "No configuration was applied: each process reads its own file.",
};

function givenWith(input: Input): Pick<NewConfiguration, "actor" | "note" | "expected" | "at"> {
  const expect = input.values.get("expect");
  return {
    actor: ACTOR,
    note: input.values.has("note") ? reasonOf(input, "note") : null,
    expected: expect === undefined ? null : versionOf("--expect", expect, 0),
    at: new Date(input.nowMs),
  };
}

function versionOf(name: string, text: string, least: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new UsageError(`${name} must be the number of a version, but is '${text}'`);
}

function appliedAnswer({ version, applied, changes }: Applied): Answer {
  const json = { version, applied, changes };
  if (!applied) return { json, text: `Version ${version} has this text: nothing was stored.` };
  return { json, text: `Version ${version} is in force:\n${linesOf(changes)}` };
}

function linesOf(changes: readonly string[]): string {
  return indented(changes.length === 0 ? "nothing that is sold" : changes.join("\n"));
}

function jsonOf(one: ConfigurationVersion): Readonly<Record<string, unknown>> {
  const { version, digest, actor, note, changes, rollsBackTo, at } = one;
  return {
    version,
    at: at.toISOString(),
    actor,
    note,
    digest,
    rolls_back_to: rollsBackTo,
    changes,
  };
}

function versionText({
  version,
  actor,
  note,
  changes,
  rollsBackTo,
  at,
}: ConfigurationVersion): string {
  const of = rollsBackTo === null ? "" : `, the text of version ${rollsBackTo}`;
  const head = `Version ${version}, ${utc(at)}, ${actor}${of}${note === null ? "" : `: ${note}`}`;
  return `${head}\n${linesOf(changes)}`;
}

export const configCommands: readonly Command[] = [apply, show, history, rollback];
