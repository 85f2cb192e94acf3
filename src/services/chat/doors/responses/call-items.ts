// The items of calls that ran elsewhere: on the caller's machine, such as a command of a shell, or
// at the provider of an earlier reply, such as a tool of an MCP server.

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
import { caller, callId, itemId, PARTS_MAX, status } from "./item-fields.ts";
import { STATE, Tool } from "./response-tools.ts";

const count = optional(Type.Integer());
const environment = optional(Type.Object({ container_id: notOffered({ must: STATE }) }));

const ShellCall = named("ShellCallItem", {
  type: Type.Literal("shell_call"),
  call_id: callId,
  action: Type.Object({
    commands: Type.Array(text(), { maxItems: PARTS_MAX }),
    timeout_ms: count,
    max_output_length: count,
  }),
  environment,
  caller,
  id: itemId,
  status,
});
const ShellOutput = named("ShellCallOutputItem", {
  type: Type.Literal("shell_call_output"),
  call_id: callId,
  output: Type.Array(
    Type.Object({
      stdout: optional(text()),
      stderr: optional(text()),
      outcome: optional(anyObject({ description: "`exit` with an `exit_code`, or `timeout`" })),
    }),
    { maxItems: PARTS_MAX },
  ),
  max_output_length: count,
  caller,
  id: itemId,
  status,
});
const LocalShellCall = named("LocalShellCallItem", {
  type: Type.Literal("local_shell_call"),
  call_id: callId,
  action: Type.Object({
    type: optional(Type.Literal("exec")),
    command: Type.Array(text(), { maxItems: PARTS_MAX }),
    env: optional(anyObject()),
    timeout_ms: count,
    user: optional(text()),
    working_directory: optional(text()),
  }),
  id: itemId,
  status,
});
const LocalShellOutput = named("LocalShellCallOutputItem", {
  type: Type.Literal("local_shell_call_output"),
  call_id: optional(callId),
  output: text(),
  id: optional(text({ description: "Without `call_id`: that of the call" })),
  status,
});
const PatchCall = named("ApplyPatchCallItem", {
  type: Type.Literal("apply_patch_call"),
  call_id: callId,
  operation: Type.Object({
    type: oneOf(["create_file", "update_file", "delete_file"]),
    path: text(),
    diff: optional(text()),
  }),
  caller,
  id: itemId,
  status,
});
const PatchOutput = named("ApplyPatchCallOutputItem", {
  type: Type.Literal("apply_patch_call_output"),
  call_id: callId,
  output: optional(text()),
  caller,
  id: itemId,
  status: oneOf(["completed", "failed"]),
});
const checks = optional(Type.Array(anyObject(), { maxItems: PARTS_MAX }));
const ComputerCall = named("ComputerCallItem", {
  type: Type.Literal("computer_call"),
  call_id: callId,
  action: optional(anyObject()),
  actions: optional(Type.Array(anyObject(), { maxItems: PARTS_MAX })),
  pending_safety_checks: checks,
  id: itemId,
  status,
});
const ComputerOutput = named("ComputerCallOutputItem", {
  type: Type.Literal("computer_call_output"),
  call_id: callId,
  output: Type.Object({
    type: optional(Type.Literal("computer_screenshot")),
    image_url: text({ description: "As of `input_image`" }),
    detail: optional(shortText(16)),
    file_id: notOffered({ must: STATE }),
  }),
  acknowledged_safety_checks: checks,
  id: itemId,
  status,
});

/** Items of tools that the caller runs. */
export const ClientCallItem = Type.Union([
  ShellCall,
  ShellOutput,
  LocalShellCall,
  LocalShellOutput,
  PatchCall,
  PatchOutput,
  ComputerCall,
  ComputerOutput,
]);

const server = text({ description: "The label of the MCP server" });
const McpTools = named("McpListToolsItem", {
  type: Type.Literal("mcp_list_tools"),
  server_label: server,
  tools: Type.Array(anyObject(), { maxItems: PARTS_MAX }),
  error: optional(Type.Union([text(), anyObject()])),
  id: itemId,
});
const McpCall = named("McpCallItem", {
  type: Type.Literal("mcp_call"),
  server_label: server,
  name: text(),
  arguments: text({ description: "JSON, as text" }),
  output: optional(text()),
  error: optional(Type.Union([text(), anyObject()])),
  approval_request_id: optional(text()),
  id: itemId,
  status,
});
const McpRequest = named("McpApprovalRequestItem", {
  type: Type.Literal("mcp_approval_request"),
  server_label: server,
  name: text(),
  arguments: text({ description: "JSON, as text" }),
  id: text(),
});
const McpResponse = named("McpApprovalResponseItem", {
  type: Type.Literal("mcp_approval_response"),
  approval_request_id: text(),
  approve: Type.Boolean(),
  reason: optional(text()),
  id: itemId,
});
const Program = named("ProgramItem", {
  type: Type.Literal("program"),
  call_id: callId,
  code: text(),
  fingerprint: optional(text()),
  id: itemId,
});
const ProgramOutput = named("ProgramOutputItem", {
  type: Type.Literal("program_output"),
  call_id: callId,
  result: text(),
  id: itemId,
  status,
});
const CodeCall = named("CodeInterpreterCallItem", {
  type: Type.Literal("code_interpreter_call"),
  code: optional(text()),
  container_id: optional(text({ description: "Of no use here" })),
  outputs: optional(Type.Array(anyObject(), { maxItems: PARTS_MAX })),
  id: itemId,
  status,
});
const FileCall = named("FileSearchCallItem", {
  type: Type.Literal("file_search_call"),
  queries: optional(Type.Array(text(), { maxItems: PARTS_MAX })),
  results: optional(Type.Array(anyObject(), { maxItems: PARTS_MAX })),
  id: itemId,
  status,
});
const execution = optional(oneOf(["server", "client"]));
const ToolSearchCall = named("ToolSearchCallItem", {
  type: Type.Literal("tool_search_call"),
  arguments: optional(Type.Union([text(), anyObject()])),
  call_id: optional(callId),
  execution,
  id: itemId,
  status,
});
const ToolSearchOutput = named(
  "ToolSearchOutputItem",
  {
    type: Type.Literal("tool_search_output"),
    tools: Type.Array(Tool, { maxItems: PARTS_MAX }),
    call_id: optional(callId),
    execution,
    id: itemId,
    status,
  },
  { description: "Tools that were found: the model can call them, as those of `tools`" },
);

/** Items of tools that the provider of an earlier reply ran. */
export const ProviderCallItem = Type.Union([
  McpTools,
  McpCall,
  McpRequest,
  McpResponse,
  Program,
  ProgramOutput,
  CodeCall,
  FileCall,
  ToolSearchCall,
  ToolSearchOutput,
]);
