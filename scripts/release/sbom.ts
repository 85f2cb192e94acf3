// The packages of a release, in CycloneDX, as npm lists them of the lock file.

import { must } from "../deploy/tools.ts";
import { digestOf, type Source } from "./source.ts";

interface Bom {
  serialNumber: string;
  readonly metadata: {
    timestamp: string;
    readonly component: { name: string; readonly version: string };
  };
  readonly components: readonly object[];
}

/**
 * Lists the packages that the release needs to run, with the digest of each. npm gives the list a
 * random number and the present time; here they follow from the source, so that each machine makes
 * the same file.
 * @param folder the unpacked source
 */
export async function sbomOf(source: Source, folder: string): Promise<string> {
  const npm = ["npm", "sbom", "--sbom-format", "cyclonedx", "--package-lock-only", "--omit", "dev"];
  const bom = JSON.parse(await must(npm, { cwd: folder })) as Bom;
  const hex = digestOf(`${source.commit} sbom`);
  // Version 8 of RFC 9562: a UUID of one's own making.
  const uuid = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  bom.serialNumber = `urn:uuid:${[...uuid, hex.slice(20, 32)].join("-")}`;
  bom.metadata.timestamp = new Date(source.epoch * 1_000).toISOString();
  bom.metadata.component.name = "farebox";
  return `${JSON.stringify(bom, null, 2)}\n`;
}
