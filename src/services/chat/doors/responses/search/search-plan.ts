// Serves OpenAI's tool `web_search` by our own search: the model gets a function in its place,
// within the bounds that the request sets (D-870).

import type { ToolSearch } from "../../../../../calls/tool-search.ts";
import { ApiError } from "../../../../../core/errors.ts";
import { isAbsent } from "../../../../../http/body/checks.ts";
import type { ChatContext } from "../../completions/answer-chat.ts";
import { shortName } from "../../door-meta.ts";
import type { ResponsesFields, ToolChoiceFields, ToolFields } from "../responses-body.ts";
import { isServed } from "../served-tools.ts";
import { SEARCH_FUNCTION, SEARCH_NAME } from "./search-words.ts";

/** The names of the tool, with those of its older versions. */
const KINDS: ReadonlySet<string> = new Set([
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
]);
/** The includes that the tool serves. */
const SOURCES = "web_search_call.action.sources";
const RESULTS = "web_search_call.results";
/** Fields of the tool that have their effect, or that every search here meets. */
const KNOWN: ReadonlySet<string> = new Set([
  "type",
  "filters",
  "user_location",
  "external_web_access",
]);
const KNOWN_OF_LOCATION: ReadonlySet<string> = new Set(["type", "country"]);

/** The searches of a request that has the tool. */
export interface SearchPlan {
  /** The body with the function in place of the tool. */
  readonly fields: ResponsesFields;
  readonly searches: ToolSearch;
  /** The names of fields of the tool that have no effect. */
  readonly ignored: readonly string[];
  /** True if the reply lists the addresses of the pages, or all that was found. */
  readonly hasSources: boolean;
  readonly hasResults: boolean;
}

/**
 * Plans the searches of a request. Returns null if the request does not list the tool or forbids
 * to call it, or if the operator has not switched it on; returns an error if the tool is asked for
 * and the request cannot have it.
 */
export function searchPlan(
  { deps }: Pick<ChatContext, "deps">,
  fields: ResponsesFields,
): SearchPlan | ApiError | null {
  const { tools, tool_choice: choice, include, max_tool_calls: most } = fields;
  const tool = tools?.find(isSearch);
  if (isAbsent(tools) || tool === undefined || !mayCall(choice)) return null;
  const searches = deps.toolSearch({
    most: most ?? null,
    includeDomains: tool.filters?.allowed_domains ?? [],
    excludeDomains: tool.filters?.blocked_domains ?? [],
    country: tool.user_location?.country ?? null,
  });
  if (searches === null || searches instanceof ApiError) return searches;
  if (deps.pauses.isPaused("search")) {
    const retryAfterSeconds = PAUSED_SECONDS;
    return new ApiError("search_unavailable", "Search is paused", { retryAfterSeconds });
  }
  if (listsOf(fields).some((list) => list.some(isNamedSearch))) {
    return new ApiError("invalid_parameter", `A function has the name ${SEARCH_NAME}`);
  }
  return {
    fields: {
      ...fields,
      tools: tools.flatMap((one) =>
        one === tool ? [SEARCH_FUNCTION] : isSearch(one) ? [] : [one],
      ),
      ...(!isAbsent(choice) && { tool_choice: choiceOf(choice) }),
      max_tool_calls: null,
      include: (include ?? []).filter((name) => name !== SOURCES && name !== RESULTS),
    },
    searches,
    ignored: ignoredOf(tool, searches),
    hasSources: include?.includes(SOURCES) === true,
    hasResults: include?.includes(RESULTS) === true,
  };
}

/** A pause may end at any time. */
const PAUSED_SECONDS = 60;

/** The tools of the request, and those that its items bring. */
function listsOf({ tools, input }: ResponsesFields): readonly (readonly ToolFields[])[] {
  const items = typeof input === "string" ? [] : input;
  const brought = items.flatMap((item) => (item.type === "additional_tools" ? [item.tools] : []));
  return [tools ?? [], ...brought];
}

/** True if a call of the tool could be taken for one of our search: in a namespace, too. */
function isNamedSearch(tool: ToolFields): boolean {
  if (tool.type === "namespace") return tool.tools.some(({ name }) => name === SEARCH_NAME);
  return isServed(tool) && tool.name === SEARCH_NAME;
}

/** The names with the reason why the request does without the tool. */
export function withReason(ignored: readonly string[], { message }: ApiError): readonly string[] {
  return ignored.map((name) =>
    KINDS.has(name.replace(/^tools: /, "")) ? `${name} (${message})` : name,
  );
}

type HostedTool = Extract<ToolFields, { readonly filters?: unknown }>;

function isSearch(tool: ToolFields): tool is HostedTool {
  return KINDS.has(tool.type);
}

type Choice = ToolChoiceFields | null | undefined;

function mayCall(choice: Choice): boolean {
  if (isAbsent(choice)) return true;
  if (typeof choice === "string") return choice !== "none";
  if (choice.type === "allowed_tools") return choice.tools.some(({ type }) => KINDS.has(type));
  return KINDS.has(choice.type);
}

const FUNCTION_CHOICE = { type: "function", name: SEARCH_NAME } as const;

function choiceOf(choice: ToolChoiceFields): ToolChoiceFields {
  if (typeof choice === "string") return choice;
  if (KINDS.has(choice.type)) return FUNCTION_CHOICE;
  if (choice.type !== "allowed_tools") return choice;
  const tools = choice.tools.map((one) => (KINDS.has(one.type) ? FUNCTION_CHOICE : one));
  return { ...choice, tools };
}

function ignoredOf(
  tool: HostedTool,
  { isOfAnyCountry }: Pick<ToolSearch, "isOfAnyCountry">,
): readonly string[] {
  const location = namesIn(tool.user_location ?? {}, KNOWN_OF_LOCATION);
  return [
    ...namesIn(tool, KNOWN),
    ...[...location, ...(isOfAnyCountry ? ["country"] : [])].map((name) => `user_location.${name}`),
  ].map((name) => `tools: ${tool.type}.${shortName(name)}`);
}

function namesIn(fields: object, known: ReadonlySet<string>): readonly string[] {
  const set = Object.entries(fields).filter(
    ([name, value]) => !known.has(name) && !isAbsent(value),
  );
  return set.slice(0, NAMES_MAX).map(([name]) => name);
}

const NAMES_MAX = 16;
