// Recognises a Redis that is a replica, which takes no writes.

/** True for the reply of a replica to a write. */
export function isOfReplica(error: Error): boolean {
  return error.message.startsWith("READONLY ");
}

/** True if `INFO replication` comes from a replica. */
export function isReplica(replication: string): boolean {
  return /^role:slave/m.test(replication);
}
