// `bun run clients`: runs other people's clients, unchanged, against both surfaces of a started
// Farebox. The run ends with a table of clients and checks.

import { parseArgs } from "node:util";
import { AGENT_NAMES, runAgents } from "../test/product/clients/agents/run-agents.ts";
import { CLIENT_NAMES, runClients } from "../test/product/clients/run-clients.ts";
import { clientTable, failuresOf } from "../test/product/clients/table.ts";
import { isCi } from "../test/support/product/toolchains.ts";

const HELP = `bun run clients [options]

Starts Farebox on stores and ports of its own, with a stub of a model server behind it, and runs
the official OpenAI SDKs of Python, Go and JavaScript, OpenAI's Agents SDK, the AI SDK, LangChain
with its standard test suite, LiteLLM, pydantic-ai and instructor against /v1 and /api/v1, and the
programs of docs/clients/, and verifies receipts in Python. What Python and Go need is kept below
.farebox/clients.

Python or Go that is missing is a skip, and a failure where CI is set.

  --all         also the agents, which take 1.1 GB: ${AGENT_NAMES.join(", ")}
  --only NAME   one of ${CLIENT_NAMES.join(", ")},
                or an agent; several joined with commas
`;

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      help: { type: "boolean" },
      all: { type: "boolean" },
      only: { type: "string" },
    },
  });
  if (values.help === true) {
    console.log(HELP);
    return true;
  }
  const everything = [...CLIENT_NAMES, ...AGENT_NAMES];
  const names = values.only?.split(",") ?? (values.all === true ? everything : CLIENT_NAMES);
  const unknown = names.find((name) => !everything.includes(name));
  if (unknown !== undefined) throw new Error(`--only: there is no client '${unknown}'`);
  const say = (line: string) => console.log(`- ${line}`);
  const rows = [...(await runClients(names, say)), ...(await runAgents(names, say))];
  console.log(`\n${clientTable(rows)}\n`);
  const skipped = rows.filter(({ missing }) => missing !== undefined);
  const failures = [
    ...rows.flatMap(failuresOf),
    ...(isCi() ? skipped.map(({ client, missing }) => `${client}: ${missing}`) : []),
  ];
  for (const failure of failures) console.log(failure);
  console.log(`${rows.length - skipped.length} runs of clients, ${failures.length} failures`);
  return failures.length === 0;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  console.error(error);
  process.exit(1);
}
