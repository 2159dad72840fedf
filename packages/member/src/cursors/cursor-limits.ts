/** When the client names no batchSize. */
export const defaultFirstBatch = 101

/** One document always fits. */
export const batchBytesMax = 16 * 1024 * 1024

/** Default of cursorTimeoutMillis. */
export const cursorTimeoutMs = 10 * 60_000
