// The versions of the configuration that all processes share, and the way back to one of them.

import { AdministrationError } from "../core/errors.ts";
import { StartError } from "../core/start-error.ts";
import { jsonBody } from "../http/body/json-body.ts";
import { queryOf } from "../http/console/console-endpoint.ts";
import { operatorEndpoint } from "../http/console/operator-endpoint.ts";
import type { Checked } from "../http/schema.ts";
import { byNumber, readPage } from "../readings/list-reading.ts";
import { timeText } from "../readings/reading.ts";
import {
  Configurations,
  type ConfigurationVersion,
  type DescribeChanges,
} from "../store/operators/configurations.ts";
import { actOnce } from "./act.ts";
import { ACTION_EXAMPLE, Action, ASK_EXAMPLE } from "./action-schema.ts";
import {
  CONFIGURATION_EXAMPLE,
  CONFIGURATIONS_EXAMPLE,
  Configuration,
  ConfigurationsQuery,
  type ConfigurationsReply,
  Configurations as Listed,
  RollbackBody,
} from "./configurations-schema.ts";
import { BODY_BYTES_MAX, type Context, OPERATOR_PATH } from "./deps.ts";

const PATH = `${OPERATOR_PATH}/configurations`;
const KEYSET = byNumber<ConfigurationVersion>("version");

const listed = operatorEndpoint({
  id: "listConfigurations",
  method: "GET",
  path: PATH,
  summary: "List the versions of the configuration, newest first, and what is in force",
  query: queryOf(ConfigurationsQuery),
  reply: Listed,
  examples: [{ summary: "A version with new prices", reply: CONFIGURATIONS_EXAMPLE }],
  async run({ deps }: Context, { before }) {
    const configurations = new Configurations(deps.reading.database);
    const { version, refused } = deps.configuration.running();
    const newest = await configurations.inForce(version);
    const { rows, next } = await readPage(KEYSET, before, (page) =>
      configurations.list(page.before, page.count),
    );
    return {
      in_force: newest?.version ?? null,
      running: version,
      refused: refused?.reason ?? null,
      versions: rows.map(versionJson),
      next,
    } satisfies ConfigurationsReply;
  },
});

const one = operatorEndpoint({
  id: "showConfiguration",
  method: "GET",
  path: `${PATH}/{version}`,
  summary: "Show a version of the configuration with its text",
  reply: Configuration,
  examples: [{ summary: "A version", reply: CONFIGURATION_EXAMPLE }],
  async run({ deps, params }: Context) {
    const word = params.version ?? "";
    if (!/^[1-9]\d{0,8}$/.test(word)) {
      throw new AdministrationError("not_found", `There is no version ${word}`);
    }
    const found = await new Configurations(deps.reading.database).find(Number(word));
    return { ...versionJson(found), text: found.text };
  },
});

const rollback = operatorEndpoint({
  id: "rollBackConfiguration",
  method: "POST",
  path: `${PATH}/rollback`,
  summary: "Put the text of an earlier version in force again, as a new version",
  body: jsonBody(RollbackBody, { bytesMax: BODY_BYTES_MAX }),
  reply: Action,
  examples: [{ summary: "Version 2", body: { ...ASK_EXAMPLE, version: 2 }, reply: ACTION_EXAMPLE }],
  async run(context: Context, input: Checked<typeof RollbackBody>) {
    const { deps, person } = context;
    const { version, reason } = input;
    const configurations = new Configurations(deps.reading.database);
    const { text } = await configurations.find(version);
    const about = `configuration back to version ${version}`;
    const deed = { action: "configuration", account: null, subject: String(version), about };
    const done = await actOnce(context, deed, input, async (also) => {
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

/** What is wrong with a text is a refusal here, not a reason to end. */
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

function versionJson(row: ConfigurationVersion): ConfigurationsReply["versions"][number] {
  const { version, actor, note, changes, rollsBackTo, at } = row;
  return {
    version,
    at: timeText(at),
    actor,
    note,
    rolls_back_to: rollsBackTo,
    changes: [...changes],
  };
}

export const CONFIGURATION_ENDPOINTS = [listed, one, rollback] as const;
