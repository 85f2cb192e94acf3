// Runs as a process of the test of stored settlements: takes three holds, ends their calls on a
// signal, prints the charges, and stays until it is killed. Arguments: Redis URL, Postgres URL,
// account id, bucket, key id.

import { usd } from "../../../src/core/money/money.ts";
import { openProcess } from "../../support/product/actor-process.ts";
import { DONE, hold } from "../../support/stores/world.ts";

const [redisUrl = "", databaseUrl = "", account = "", bucket, keyId = ""] = process.argv.slice(2);

const mine = openProcess({ redisUrl, databaseUrl });
mine.redis.on("error", () => {});
const actor = mine.accounts.of(account, Number(bucket));

const take = (stream: boolean) => hold({ actor, keyId }, usd("2"), { stream });

const plain = await take(false);
const streamed = await take(true);
const failed = await take(true);
streamed.checkpoint(usd("0.5"));
failed.checkpoint(usd("0.75"));
await mine.accounts.leases.saveCosts();
process.stdout.write("held\n");
await Bun.stdin.stream().getReader().read();
const charges = await Promise.all([
  plain.settle(usd("1.25"), DONE),
  streamed.settle(usd("1.5"), DONE),
  failed.settle(usd("0"), { ...DONE, status: 502, errorCode: "upstream_unreachable" }),
]);
process.stdout.write(`${charges.map(({ charged }) => charged).join(" ")}\n`);
await new Promise(() => {});
