// The types of redis-memory.mjs for the tests.

/** The limit in bytes that a setting says, of the memory that there is. */
export function redisMemory(setting: string | undefined, memory?: number): number;
