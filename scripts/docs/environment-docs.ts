// Makes the table of environment variables, for the documentation and .env.example.

import { capitalised } from "../../src/core/text/capital.ts";
import { CONSOLE_VARIABLES } from "../../src/settings/console-variables.ts";
import type { Variable, Variables } from "../../src/settings/environment.ts";
import { PAYMENT_VARIABLES } from "../../src/settings/payment-variables.ts";
import { SSO_VARIABLES } from "../../src/settings/sso-variables.ts";
import { TRACE_VARIABLES } from "../../src/settings/trace-variables.ts";
import {
  LAUNCHER_VARIABLES,
  MAIL_VARIABLES,
  SERVER_VARIABLES,
  STORE_VARIABLES,
} from "../../src/settings/variables.ts";
import { table } from "./markdown.ts";

const LINE_LENGTH_MAX = 98;

const GROUPS: readonly (readonly [title: string, variables: Variables])[] = [
  ["Stores, secrets and data", STORE_VARIABLES],
  ["The API and the workers", SERVER_VARIABLES],
  ["Mail", MAIL_VARIABLES],
  ["Payments", PAYMENT_VARIABLES],
  ["The console", CONSOLE_VARIABLES],
  ["Single sign-on of operators", SSO_VARIABLES],
  ["Traces", TRACE_VARIABLES],
  ["npm start, npm test and npm run farebox", LAUNCHER_VARIABLES],
];

const HEAD = `# Every environment variable of Farebox. None is needed with npm start.
# Made by npm run docs from src/settings/variables.ts; docs/configuration.md explains more.
`;

export function settingsTable(variables: Variables): string {
  const rows = Object.entries(variables).map(([name, variable]) => [
    variable.isSecret ? `\`${name}\`, \`${name}_FILE\`` : `\`${name}\``,
    defaultOf(variable),
    aboutOf(variable),
  ]);
  return table(["variable", "default", "what it sets"], rows);
}

/** A file with all settings, none of them set. */
export function environmentExample(): string {
  const groups = GROUPS.map(([title, variables]) => {
    const settings = Object.entries(variables).map(exampleOf);
    return `# --- ${title} ---\n\n${settings.join("\n")}`;
  });
  return `${HEAD}\n${groups.join("\n")}`;
}

function exampleOf([name, variable]: readonly [string, Variable]): string {
  const { default: value, isSecret } = variable;
  const shown = value === undefined ? ` Default: ${defaultOf(variable)}.` : "";
  const sentence = capitalised(plain(`${aboutOf(variable)}.${shown}`));
  const file = isSecret ? `#${name}_FILE=\n` : "";
  return `${comment(sentence)}#${name}=${value ?? ""}\n${file}`;
}

function aboutOf({ about, kind }: Variable): string {
  return kind.range === undefined ? about : `${about} (${kind.range})`;
}

function defaultOf({ default: value, shown }: Variable): string {
  if (shown !== undefined) return shown;
  if (value === undefined) return "none";
  return /^\d+$/.test(value) ? value : `\`${value}\``;
}

/** The text of Markdown without links and code marks. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
}

function comment(words: string): string {
  let lines = "#";
  let length = 1;
  for (const word of words.split(" ")) {
    if (length + 1 + word.length > LINE_LENGTH_MAX) {
      lines += "\n#";
      length = 1;
    }
    lines += ` ${word}`;
    length += 1 + word.length;
  }
  return `${lines}\n`;
}
