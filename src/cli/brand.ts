// Reads the brand for commands that send mail.

import type { ReadBrand } from "../core/brand/brand.ts";
import { BrandSource } from "../settings/brand-source.ts";
import { loadCatalogueFile } from "../settings/config.ts";
import { Configurations } from "../store/operators/configurations.ts";
import type { Stores } from "./stores.ts";

/** The brand of this moment, as the servers have it. */
export async function brandOf({
  database,
  environment,
  warn,
}: Pick<Stores, "database" | "environment" | "warn">): Promise<ReadBrand> {
  const log = { error: (_: object, message: string) => warn(message) };
  const { path } = loadCatalogueFile(environment);
  const source = new BrandSource({ applied: new Configurations(database), path, log });
  await source.look();
  return source.read;
}
