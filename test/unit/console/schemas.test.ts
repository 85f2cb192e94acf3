import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { TSchema } from "../../../src/http/schema.ts";
import { CONSOLE, OPERATOR } from "../../../src/routes.ts";

const EXAMPLES = [...CONSOLE, ...OPERATOR].flatMap(({ id, reply, examples }) =>
  examples.map((one): readonly [string, TSchema, unknown] => [id, reply, one.reply]),
);

test("the console and the operators' console have examples", () => {
  expect(EXAMPLES.length).toBeGreaterThan(50);
});

test.each(EXAMPLES)("the documented example of %s is of its schema", (_, schema, example) => {
  expect([...Value.Errors(schema, example)]).toEqual([]);
});
