// Scripts for the leases of processes, typed. The header of each .lua file is its contract.

import { type NanoUsd, toDouble } from "../../src/core/money/money.ts";
import forgetOwnerLua from "../lua/forget_owner.lua" with { type: "text" };
import leaseLua from "../lua/lease.lua" with { type: "text" };
import renewLua from "../lua/renew.lua" with { type: "text" };
import { type BucketKeys, holdsKey } from "../records/keys.ts";
import { pack, type RawReply, type Script, type Timed, verdictOf } from "./script.ts";

export interface OwnerRef extends Timed {
  readonly keys: BucketKeys;
  readonly owner: string;
}

export interface LeaseArgs extends OwnerRef {
  readonly leaseMs: number;
}

/** Gives a process a lease, unless it has one for half of the time or more. */
export const lease: Script<LeaseArgs, void> = {
  name: "lease",
  lua: leaseLua,
  flags: [],
  keys: ({ keys, owner }) => [keys.bucket, keys.leases, holdsKey(keys.number, owner)],
  args: (a) => [pack(a.nowMs, a.leaseMs), a.owner],
  reply: () => {},
};

export interface RenewArgs extends LeaseArgs {
  readonly streams: readonly { readonly requestId: string; readonly checkpoint: NanoUsd }[];
}

export interface RenewReply {
  /** False if the sweep removed the lease and resolved every hold of that time. */
  readonly hadLease: boolean;
  /** Counts the changes of access documents in this bucket. */
  readonly documents: number;
  /** Streams that no longer have a hold. */
  readonly lost: readonly string[];
}

export const renew: Script<RenewArgs, RenewReply> = {
  name: "renew",
  lua: renewLua,
  flags: ["allow-oom"],
  keys: ({ keys, owner }) => [keys.bucket, keys.leases, holdsKey(keys.number, owner)],
  args: (a) => [
    pack(a.nowMs, a.leaseMs),
    a.owner,
    ...a.streams.flatMap((stream) => [stream.requestId, pack(toDouble(stream.checkpoint))]),
  ],
  reply: (raw) => {
    const [hadLease, documents, ...lost] = raw as readonly RawReply[];
    return { hadLease: hadLease === 1, documents: Number(documents), lost: lost.map(String) };
  },
};

/** Removes the lease of a process that is gone and has no hold left. */
export const forgetOwner: Script<OwnerRef, "ok" | "kept"> = {
  name: "forget_owner",
  lua: forgetOwnerLua,
  flags: ["allow-oom"],
  keys: ({ keys, owner }) => [keys.leases, holdsKey(keys.number, owner)],
  args: (a) => [pack(a.nowMs), a.owner],
  reply: (raw) => verdictOf(raw) as "ok" | "kept",
};
