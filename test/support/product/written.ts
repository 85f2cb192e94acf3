// Reads everything that a started product wrote, for tests that search for words in it.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Redis } from "ioredis";
import { eventually } from "../eventually.ts";
import type { Product } from "./product.ts";

/** The bytes of each file of the product and its stores, of all rows, and of the metrics. */
export async function writtenBy(product: Product): Promise<[path: string, bytes: Buffer][]> {
  await persist(product);
  const { parts, redis, postgres, operator, programs } = product;
  const places = [parts.home, dirname(redis.dir), dirname(postgres.dir)];
  const metrics = await Promise.all(programs.map((program) => program.metricsText()));
  return [
    ...places.flatMap(filesBelow).map((path): [string, Buffer] => [path, readFileSync(path)]),
    ["tables", Buffer.from(await tables(operator.database))],
    ["metrics", Buffer.from(metrics.join())],
  ];
}

/** Makes the stores write all their data to their files. */
async function persist({ redis: { url }, operator }: Product): Promise<void> {
  const redis = new Redis(url);
  await redis.bgrewriteaof();
  await eventually("the append-only file is rewritten", async () => {
    return (await redis.info("persistence")).includes("aof_rewrite_in_progress:0");
  });
  await redis.save();
  redis.disconnect();
  await operator.database.sql`CHECKPOINT`;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true);
}

/** Every row of every table as text; a data file may hold a long value compressed. */
async function tables({ sql }: Product["operator"]["database"]): Promise<string> {
  const names = await sql`SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`;
  const texts = [];
  for (const { name } of names) {
    const rows = await sql.unsafe(`SELECT t::text AS row FROM ${name} t`);
    texts.push(`${name}\n`, ...rows.map((row) => `${row.row}\n`));
  }
  return texts.join("");
}
