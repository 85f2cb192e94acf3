// Reads the settings of the servers, for commands that check how servers would start.

import { type AppliedConfigurations, CatalogueSource } from "../settings/catalogue-source.ts";
import { loadServerConfig, type ServerConfig } from "../settings/config.ts";
import type { Fetch } from "../upstream/upstream-http.ts";
import type { Stores } from "./stores.ts";

/** The value is not used: a command serves no metrics. */
const METRICS_PORT = 0;

/** @throws ConfigError for a variable that is missing or wrong */
export function serverSettings({ environment }: Pick<Stores, "environment">): ServerConfig {
  return loadServerConfig(METRICS_PORT, environment);
}

interface CatalogueParts {
  readonly applied: AppliedConfigurations;
  readonly probe: Fetch;
  readonly warn: (line: string) => void;
}

/**
 * Reads the configuration as the servers do. Passes to `warn` the lines that servers would log.
 * @throws CatalogueError
 */
export async function openCatalogue(
  { catalogueFile, environment: env, port: ownPort }: ServerConfig,
  { applied, probe, warn }: CatalogueParts,
): Promise<CatalogueSource> {
  const tell = (_: object, message: string) => warn(message);
  const log = { info: () => {}, warn: tell, error: tell };
  return await CatalogueSource.open({ ...catalogueFile, env, log, probe, ownPort, applied });
}
