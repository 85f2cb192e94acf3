// Runs as a process of the drain test: admits calls in parallel and prints how many passed.
// Arguments: Redis URL, Postgres URL, account id, bucket, key id, calls, bound in nano-USD.

import { nano } from "../../../src/core/money/money.ts";
import { openProcess } from "../../support/product/actor-process.ts";
import { ask } from "../../support/stores/world.ts";

const [redisUrl = "", databaseUrl = "", account = "", bucket, keyId = "", calls, bound = "0"] =
  process.argv.slice(2);

await using mine = openProcess({ redisUrl, databaseUrl });
const actor = mine.accounts.of(account, Number(bucket));
await actor.state(keyId);
// Ready: the test lets all processes go at once.
process.stdout.write("ready\n");
await Bun.stdin.stream().getReader().read();
const verdicts = await Promise.all(
  Array.from({ length: Number(calls) }, () => actor.admit(ask(keyId, nano(bound)))),
);
const admitted = verdicts.filter((one) => one.verdict === "admitted").length;
process.stdout.write(`${admitted}\n`);
