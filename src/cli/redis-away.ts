/** In words, that Redis is away; null for any other error. The client's own are about retries. */
export function redisAway(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if (error.name === "MaxRetriesPerRequestError") {
    return "Redis cannot be reached: check its address, user and password, and firewalls";
  }
  return error.message === "Command timed out" ? "Redis does not answer in time" : null;
}
