// The versions of the configuration that all processes share. An endpoint returns to an earlier
// one.

import { AdministrationError } from "../core/errors.ts";
import { StartError } from "../core/start-error.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import { replyWith } from "../http/console/record-schema.ts";
import { Type } from "../http/schema.ts";
import { CONFIGURATIONS, Configuration, configurationReply } from "../readings/configurations.ts";
import { Configurations, type DescribeChanges } from "../store/operators/configurations.ts";
import { actOnce } from "./act.ts";
import { operatorAct } from "./act-endpoint.ts";
import { type Context, OPERATOR_PATH } from "./deps.ts";

const PATH = `${OPERATOR_PATH}/configurations`;
const VERSION_MAX = 999_999_999;

const listed = operatorEndpoint({
  id: "listConfigurations",
  path: PATH,
  summary: "List the versions of the configuration, newest first, and what is in force",
  ...CONFIGURATIONS.endpoint("A version with new prices"),
  run: ({ deps }: Context, input) =>
    CONFIGURATIONS.page(
      { database: deps.reading.database, running: deps.configuration.running() },
      input,
    ),
});

const one = operatorEndpoint({
  id: "showConfiguration",
  method: "GET",
  path: `${PATH}/{version}`,
  summary: "Show a version of the configuration with its text",
  ...replyWith(Configuration, { summary: "A version" }),
  async run({ deps, params }: Context) {
    const version = params.version ?? "";
    if (!/^[1-9]\d{0,8}$/.test(version)) {
      throw new AdministrationError("not_found", `There is no version ${version}`);
    }
    return await configurationReply(deps.reading.database, Number(version));
  },
});

const rollback = operatorAct({
  id: "rollBackConfiguration",
  name: "configurations/rollback",
  summary: "Put the text of an earlier version in force again, as a new version",
  fields: {
    version: Type.Integer({
      minimum: 1,
      maximum: VERSION_MAX,
      description: "The version whose text is put in force again",
    }),
  },
  example: { version: 2 },
  exampleSummary: "Version 2",
  async run(context, input) {
    const { deps, person } = context;
    const { version, reason } = input;
    const configurations = new Configurations(deps.reading.database);
    const { text } = await configurations.find(version);
    const about = `configuration back to version ${version}`;
    const deed = { ask: input, action: "configuration", subject: String(version), about };
    const done = await actOnce(context, deed, async (also) => {
      const next = {
        text,
        actor: person.email,
        note: reason.trim(),
        rollsBackTo: version,
        expected: null,
        at: new Date(deps.clock.now()),
      };
      const describe = inWords(deps.configuration.changes, version);
      await configurations.apply(next, describe, also);
      return { applied: true };
    });
    await deps.configuration.takeOver();
    return done;
  },
});

/** Refuses a text with a fault; the same error ends a process that starts with it. */
function inWords(describe: DescribeChanges, version: number): DescribeChanges {
  return (before, text) => {
    try {
      return describe(before, text);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      const message = `Version ${version} cannot be put in force: ${error.message}`;
      throw new AdministrationError("wrong_state", message);
    }
  };
}

export const CONFIGURATION_ENDPOINTS = [listed, one, rollback] as const;
