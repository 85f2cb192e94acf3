// The providers of an API process: the configured upstream servers, and the built-in ones.

import project from "../../package.json";
import type { Clock } from "../core/clock.ts";
import type { RandomBytes } from "../core/ids.ts";
import type { Log } from "../core/log.ts";
import type { UpstreamMeter } from "../core/upstream-meter.ts";
import { CallerIdentifiers } from "../services/chat/protocols/caller-identifiers.ts";
import { createChatProvider } from "../services/chat/protocols/chat-provider.ts";
import { createGuide, loadGuideDocuments } from "../services/chat/protocols/guide/guide.ts";
import { TokenCounter } from "../services/chat/tokens/token-counter.ts";
import { openEmbeddedMaps } from "../services/maps/providers/embedded/embedded-maps.ts";
import { createMapsProvider } from "../services/maps/providers/maps-provider.ts";
import { remoteServers } from "../services/maps/providers/remote/remote-servers.ts";
import { EmbeddedIndex } from "../services/search/providers/embedded/embedded-search.ts";
import { createSearchProvider } from "../services/search/providers/search-provider.ts";
import { configurationChanges } from "../settings/catalogue-changes.ts";
import { CatalogueSource } from "../settings/catalogue-source.ts";
import type { ServerConfig } from "../settings/config.ts";
import { Configurations } from "../store/operators/configurations.ts";
import type { Database } from "../store/servers/database.ts";
import { UpstreamBoard } from "../upstream/upstream-board.ts";
import type { Fetch } from "../upstream/upstream-http.ts";
import { openDocuments } from "./documents.ts";

const PROJECT = `${import.meta.dir}/../..`;
/** With a lower limit, hanging requests to one upstream would make requests to the others wait. */
const OUTGOING_REQUESTS_WANTED = 1_000;
const MORE = "set BUN_CONFIG_MAX_HTTP_REQUESTS to more";

/**
 * The time between two checks for a newer configuration and newer documents. Each process adds up
 * to a quarter of a second, so that the processes do not check at once.
 */
const LOOK_MS = 2_000;

interface ProviderParts {
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  readonly fetch: Fetch;
  readonly database: Database;
  readonly meter: UpstreamMeter;
}

export type Providers = Awaited<ReturnType<typeof openProviders>>;

/**
 * Reads the configuration and opens the providers.
 * @throws StartError if the configuration is wrong
 */
export async function openProviders(
  config: ServerConfig,
  { clock, random, log, fetch, database, meter }: ProviderParts,
) {
  if (config.usesProxy && config.outgoingRequestsMax < OUTGOING_REQUESTS_WANTED) {
    log.warn({}, `Only ${config.outgoingRequestsMax} upstream requests run at once: ${MORE}`);
  }
  const everyMs = LOOK_MS + (random(1)[0] ?? 0);
  const source = await CatalogueSource.open({
    ...config.catalogueFile,
    env: config.environment,
    log,
    probe: fetch,
    ownPort: config.port,
    applied: new Configurations(database),
    appliedEveryMs: everyMs,
  });
  const catalogue = () => source.current();
  const documentation = await loadGuideDocuments(PROJECT);
  const directory = config.dataDirectory;
  const searchesDocuments = () =>
    catalogue().search.servers.some(({ kind }) => kind === "embedded");
  const own = { isUsed: searchesDocuments, everyMs, clock, log };
  const { copy, path } = await openDocuments(config, { ...own, database });
  const index = new EmbeddedIndex({
    directory,
    copy: path,
    source: { project: PROJECT, homepage: project.homepage, documentation },
    clock,
    log,
  });
  const embeddedMaps = openEmbeddedMaps({ directory, clock, log });
  const tokens = new TokenCounter({ clock, log });
  const board = new UpstreamBoard();
  const upstreams = { board, catalogue, fetch, now: clock.now, clock, log, meter };
  const services = {
    catalogue,
    tokens,
    chat: createChatProvider({
      ...upstreams,
      guide: createGuide({ documents: documentation, brand: () => catalogue().brand, tokens }),
      identifiers: new CallerIdentifiers(config.safetyIdSecrets[0]),
    }),
    search: createSearchProvider({
      ...upstreams,
      servers: () => catalogue().search.servers,
      embedded: index,
    }),
    maps: createMapsProvider({
      ...upstreams,
      config: () => catalogue().maps,
      embedded: embeddedMaps.services,
      connect: remoteServers({ now: clock.now }),
    }),
  };
  return {
    services,
    board,
    versions: () => ({ configuration: source.version, documents: copy.version }),
    configuration: {
      running: () => source,
      changes: configurationChanges("its text", config.environment),
      takeOver: () => source.checkApplied(),
    },
    warnings: {
      configuration: async () => refusalOf(source),
      documents: async () => copy.problem,
    },
    /** Prepares the parts that the first call would wait for. */
    warmUp() {
      tokens.warmUp();
      if (searchesDocuments()) index.open();
      copy.start();
    },
    close() {
      copy.close();
      index.close();
      tokens.close();
      source.close();
      embeddedMaps[Symbol.dispose]();
    },
  };
}

/** The words for callers, who must not read the reason; the log has the reason. */
function refusalOf({ refused, version }: CatalogueSource): string | null {
  if (refused === null) return null;
  const runs = version === 0 ? "its own file" : `version ${version}`;
  return `version ${refused.version} is in force, this process runs ${runs}: its log says why`;
}
