import { expect, test } from "bun:test";
import { join } from "node:path";

const CREATE_LOG = join(import.meta.dir, "../../../src/settings/create-log.ts");

/** The log of a process about an error that this code makes. */
function logged(code: string): unknown {
  const script = `import { createLog } from ${JSON.stringify(CREATE_LOG)};
    createLog("worker", "info").error({ err: ${code} }, "A job failed");`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script]);
  return JSON.parse(String(stdout)).err;
}

test("an aggregate error logs why each of the first five happened", () => {
  const failed = "new Error('a hold', { cause: new RangeError('too short') })";
  const hold = { message: "a hold", cause: { type: "RangeError", message: "too short" } };
  expect(logged(`new AggregateError([${failed}], 'one hold stays')`)).toMatchObject({
    type: "AggregateError",
    message: "one hold stays",
    errors: [hold],
  });
  const seven = `new AggregateError(Array.from({ length: 7 }, () => ${failed}))`;
  expect(logged(seven)).toHaveProperty("errors.length", 5);
  expect(logged("new Error('alone')")).not.toHaveProperty("errors");
});

test("of a statement that failed, the values are in no log", () => {
  const values = "['ada@example.org', 'a-token']";
  const cause = "new RangeError('the connection is gone')";
  const error = `new (require("drizzle-orm").DrizzleQueryError)(
    "insert into people values ($1, $2)", ${values}, ${cause})`;
  const line = logged(error);
  expect(JSON.stringify(line)).not.toMatch(/ada@example|a-token|params/);
  expect(line).toMatchObject({
    message: "the connection is gone, in the statement: insert into people values ($1, $2)",
    stack: expect.stringMatching(/insert into people values \(\$1, \$2\)\n +at /),
    cause: { message: "the connection is gone" },
  });
});

test("an error that is its own cause is logged, as far down as any other", () => {
  const own = "Object.assign(new Error('round'), { cause: new Error('and') })";
  const line = logged(`((one) => { one.cause.cause = one; return one; })(${own})`);
  const messages: unknown[] = [];
  for (let at = line as { message: string; cause?: never } | undefined; at; at = at.cause) {
    messages.push(at.message);
  }
  expect(messages).toEqual(["round", "and", "round", "and", "round", "and"]);
});

test("a process that ends logs how many lines of its last second it omitted", () => {
  const script = `import { createLog } from ${JSON.stringify(CREATE_LOG)};
    const log = createLog("worker", "info");
    for (const requestId of [1, 2, 3, 4]) log.error({ requestId }, "A request failed");
    process.exit(0);`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script]);
  const lines = String(stdout).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { requestId: 1 },
    { requestId: 4, omitted: 2 },
  ]);
});
