// Defines the kinds of fields of the configuration file. `errorMessage` is the text of our own
// refusal; editors that know the keyword show it too.

import { Type } from "@sinclair/typebox";

/** Allows no other members. */
export const closed = { additionalProperties: false };
/** A name that the operator gives. */
export const name = (description: string) =>
  Type.String({
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    description,
    errorMessage: "must be a name of letters, digits, '.', '_' and '-'",
  });
/** A line of text. */
export const line = (description: string) =>
  Type.String({
    pattern: "^[^\\u0000-\\u001f\\u007f]{1,200}$",
    description,
    errorMessage: "must be one line of 1 to 200 characters",
  });
/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    description,
    errorMessage: `must be a whole number from ${minimum} to ${maximum}`,
  });
/** An amount of USD, as text or as a number. */
export const usdAmount = (description: string) =>
  Type.Union(
    [Type.String({ pattern: "^\\d{1,32}(\\.\\d{1,32})?$" }), Type.Number({ minimum: 0 })],
    {
      description,
      // The allowed number of digits follows from the range, which is checked with the values.
      errorMessage: 'must be a decimal USD amount with at most 6 decimals, such as "0.15"',
    },
  );
/** A percentage, as text or as a number. */
export const percent = (description: string) =>
  Type.Union([Type.String({ pattern: "^\\d{1,4}(\\.\\d{1,4})?$" }), Type.Number({ minimum: 0 })], {
    description,
    errorMessage: 'must be a percentage with at most 4 decimals, such as "20"',
  });
/** An address of the web. */
export const webAddress = (description: string) =>
  Type.String({
    pattern: "^https?://[^\\s]{1,500}$",
    description,
    errorMessage: "must be an http or https URL",
  });
/** The variable that holds a key. */
export const apiKeyEnv = (description: string) =>
  Type.String({
    pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
    description,
    errorMessage: "must be the name of an environment variable",
  });
