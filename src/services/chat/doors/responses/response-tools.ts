// The schemas of the tools in a body of Responses.

import {
  anyObject,
  named,
  notOffered,
  oneOf,
  optional,
  shortText,
  Type,
  text,
} from "../../../../http/schema.ts";

const TOOLS_MAX = 512;
/** The reason for refusing a reference to data that only a provider keeps. */
export const STATE = "refers to data that only the provider keeps, and is not supported";

export const toolName = shortText(128);

/** Tools of the caller's machine, unless the environment of a shell is the provider's. */
export const CLIENT_TOOL_KINDS = ["apply_patch", "local_shell", "shell"] as const;
/** Tools that only models of a server of the same form can use. */
export const COMPUTER_KINDS = ["computer", "computer_use", "computer_use_preview"] as const;

/** Tools that run at the provider. Such tools are left out. */
const HOSTED_TOOLS = [
  "code_interpreter",
  "file_search",
  "image_generation",
  "mcp",
  "programmatic_tool_calling",
  "tool_search",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
] as const;

const description = optional(text());

const FunctionTool = named("FunctionTool", {
  type: Type.Literal("function"),
  name: toolName,
  description,
  parameters: optional(anyObject({ description: "A JSON schema" })),
  strict: optional(Type.Boolean()),
});
const CustomTool = named(
  "CustomTool",
  {
    type: Type.Literal("custom"),
    name: toolName,
    description,
    format: optional(
      Type.Union([
        Type.Object({ type: Type.Literal("text") }),
        Type.Object({
          type: Type.Literal("grammar"),
          syntax: oneOf(["lark", "regex"]),
          definition: text(),
        }),
      ]),
    ),
  },
  { description: "A tool whose input is free text" },
);
const NamespaceTool = named(
  "NamespaceTool",
  {
    type: Type.Literal("namespace"),
    name: toolName,
    description,
    tools: Type.Array(Type.Union([FunctionTool, CustomTool]), { maxItems: TOOLS_MAX }),
  },
  { description: "Tools that share the beginning of their names" },
);
const noFiles = optional(Type.Array(Type.Null({ must: STATE })));
const container = Type.Object({ type: Type.Literal("auto"), file_ids: noFiles }, { must: STATE });
const domains = Type.Array(shortText(253), { maxItems: 100 });
const HostedTool = named(
  "HostedTool",
  {
    type: oneOf(HOSTED_TOOLS),
    filters: optional(
      Type.Object(
        { allowed_domains: optional(domains), blocked_domains: optional(domains) },
        { description: "Of `web_search`: which pages are found" },
      ),
    ),
    user_location: optional(
      Type.Object(
        { country: optional(shortText(2, { description: "ISO 3166-1 alpha-2" })) },
        { description: "Of `web_search`: where its user is" },
      ),
    ),
    vector_store_ids: optional(Type.Array(Type.Null({ must: STATE }))),
    container: optional(container),
    input_image_mask: optional(
      Type.Object(
        { image_url: optional(text()), file_id: notOffered({ must: STATE }) },
        { description: "Of `image_generation`: of no use here" },
      ),
    ),
  },
  {
    description:
      "Left out, and named in `svc.ignored`; but `image_generation` asks a model with " +
      "`svc.gives` for images, and `web_search` is served where the operator has switched it on",
  },
);

const Skill = Type.Object({
  name: optional(text()),
  description: optional(text()),
  path: optional(text({ description: "The folder of its instructions, on the caller's machine" })),
  skill_id: notOffered({ must: STATE }),
});
const ClientTool = named(
  "LocalTool",
  {
    type: oneOf(CLIENT_TOOL_KINDS),
    environment: optional(
      Type.Object(
        {
          type: optional(
            shortText(64, { description: "`local`; of any other the tool is left out" }),
          ),
          container_id: notOffered({ must: STATE }),
          file_ids: noFiles,
          skills: optional(Type.Array(Skill, { maxItems: TOOLS_MAX })),
        },
        { must: STATE },
      ),
    ),
  },
  { description: "A tool of the caller's machine, for every model" },
);
const ComputerTool = named(
  "ComputerTool",
  {
    type: oneOf(COMPUTER_KINDS),
    environment: optional(shortText(64)),
    display_width: optional(Type.Number()),
    display_height: optional(Type.Number()),
  },
  { description: "The caller's screen, for models whose provider speaks Responses" },
);

const OWN_KINDS = [...CLIENT_TOOL_KINDS, ...COMPUTER_KINDS, ...HOSTED_TOOLS] as const;
const LISTED_KINDS = ["function", "custom", "namespace", ...OWN_KINDS];
/**
 * Any kind of tool that the list does not have: a new release of an agent must not be shut out
 * (D-845). The static type of the kind is one literal, so that the other kinds can be told apart.
 */
const unlistedKind = Type.Unsafe<"unlisted">(
  shortText(64, { pattern: `^(?!(?:${LISTED_KINDS.join("|")})$)` }),
);
const UnlistedTool = named(
  "UnlistedTool",
  { type: unlistedKind },
  { description: "Any other tool: left out, and named in `svc.ignored`" },
);

export const Tool = Type.Union([
  FunctionTool,
  CustomTool,
  NamespaceTool,
  ClientTool,
  ComputerTool,
  HostedTool,
  UnlistedTool,
]);

const called = { name: toolName, namespace: optional(toolName) };
const FunctionChoice = Type.Object({ type: Type.Literal("function"), ...called });
const CustomChoice = Type.Object({ type: Type.Literal("custom"), ...called });
const HostedChoice = Type.Object({ type: oneOf(OWN_KINDS) });

export const ToolChoice = Type.Union(
  [
    oneOf(["none", "auto", "required"]),
    FunctionChoice,
    CustomChoice,
    Type.Object({
      type: Type.Literal("allowed_tools"),
      mode: optional(oneOf(["auto", "required"], { default: "auto" })),
      tools: Type.Array(Type.Union([FunctionChoice, CustomChoice, HostedChoice, UnlistedTool]), {
        maxItems: TOOLS_MAX,
      }),
    }),
    HostedChoice,
  ],
  { description: "Whether tools are called, or which ones are" },
);

export const Tools = Type.Array(Tool, { maxItems: TOOLS_MAX });
