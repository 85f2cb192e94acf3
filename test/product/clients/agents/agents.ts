// The agents of others that are tried, in exact versions. docs/clients/ has their settings; only
// the settings of a run without a person stand here.

/** A call of one of an agent's own tools, which the scripted model makes. */
export interface Step {
  readonly tool: string;
  readonly given: (file: string) => object;
}

export interface Agent {
  readonly name: string;
  /** The name of the agent's page in docs/clients/; by default the name of the agent. */
  readonly page?: string;
  /** The model that it asks for, where its name decides how the agent calls tools. */
  readonly model?: string;
  readonly package: string;
  readonly version: string;
  /** Arguments after the page's command, for one request without questions to a person. */
  readonly unattended: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The calls by which it reads and edits a file. */
  readonly steps: readonly Step[];
  /**
   * The agent's own words for a model that does not exist, where they replace Farebox's message.
   */
  readonly unknownModel?: RegExp;
}

export const OLD_TEXT = "hello";
export const NEW_TEXT = "fare 42";

/** The models of these names that Codex knows, and offers its other kinds of tools to. */
export const CODEX_MODELS = { custom: "gpt-5.5", namespaced: "gpt-6.2-sol" } as const;

const CODEX = {
  package: "@openai/codex",
  version: "0.171.0",
  unattended: 'exec --skip-git-repo-check -s danger-full-access "Edit the fare"',
} as const;

const WRITE = `printf '${NEW_TEXT}' > fare.txt`;
const SCRIPT = `await tools.exec_command({ cmd: "${WRITE}" }); text("Done");`;
const PATCH = `*** Begin Patch
*** Update File: fare.txt
@@
-${OLD_TEXT}
+${NEW_TEXT}
*** End Patch
`;

const edit = { old_string: OLD_TEXT, new_string: NEW_TEXT };

export const AGENTS: readonly Agent[] = [
  {
    ...CODEX,
    name: "Codex",
    steps: [
      { tool: "exec_command", given: () => ({ cmd: "cat fare.txt" }) },
      { tool: "exec_command", given: () => ({ cmd: WRITE }) },
    ],
  },
  {
    ...CODEX,
    name: "Codex with custom tools",
    page: "Codex",
    model: CODEX_MODELS.custom,
    steps: [{ tool: "apply_patch", given: () => ({ input: PATCH }) }],
  },
  {
    ...CODEX,
    name: "Codex with namespaces",
    page: "Codex",
    model: CODEX_MODELS.namespaced,
    steps: [{ tool: "functions__exec", given: () => ({ input: SCRIPT }) }],
  },
  {
    name: "Claude Code",
    package: "@anthropic-ai/claude-code",
    version: "2.1.197",
    unattended: '-p "Edit the fare" --permission-mode bypassPermissions --output-format json',
    // Without these it calls home, and refuses to run as root.
    env: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      IS_SANDBOX: "1",
    },
    steps: [
      { tool: "Read", given: (file_path) => ({ file_path }) },
      { tool: "Edit", given: (file_path) => ({ file_path, ...edit }) },
    ],
    unknownModel: /issue with the selected model/,
  },
  {
    name: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    unattended: 'run "Edit the fare"',
    steps: [
      { tool: "read", given: (filePath) => ({ filePath }) },
      {
        tool: "edit",
        given: (filePath) => ({ filePath, oldString: OLD_TEXT, newString: NEW_TEXT }),
      },
    ],
  },
  {
    name: "Continue",
    package: "@continuedev/cli",
    version: "1.5.47",
    unattended: '--auto -p "Edit the fare"',
    steps: [
      { tool: "Read", given: (filepath) => ({ filepath }) },
      { tool: "Edit", given: (file_path) => ({ file_path, ...edit }) },
    ],
  },
  {
    name: "qwen-code",
    package: "@qwen-code/qwen-code",
    version: "0.15.10",
    unattended: '--approval-mode yolo -p "Edit the fare"',
    steps: [
      { tool: "read_file", given: (file_path) => ({ file_path }) },
      { tool: "edit", given: (file_path) => ({ file_path, ...edit }) },
    ],
  },
];
