// Checks addresses and networks that people write.

import ipaddr from "ipaddr.js";
import { allowlist } from "./access.ts";

/**
 * Checks addresses and CIDR blocks that a person gives. A block with bits after its prefix is
 * refused, because it may mean its one address or its whole network: 203.0.113.9/0 would list every
 * address. Throws a RangeError that names the first wrong entry, and how to write that entry.
 */
export function checkNetworks(entries: readonly string[]): void {
  allowlist(entries);
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const network = prefix === undefined ? address : networkOf(entry);
    if (isSame(address, network)) continue;
    throw new RangeError(
      `'${entry}' is an address within a network: write '${address}' for the address, or ` +
        `'${network}/${prefix}' for the whole network`,
    );
  }
}

function networkOf(block: string): string {
  const network = block.includes(":")
    ? ipaddr.IPv6.networkAddressFromCIDR(block)
    : ipaddr.IPv4.networkAddressFromCIDR(block);
  return network instanceof ipaddr.IPv6 ? network.toRFC5952String() : network.toString();
}

function isSame(a: string, b: string): boolean {
  return String(ipaddr.parse(a).toByteArray()) === String(ipaddr.parse(b).toByteArray());
}
