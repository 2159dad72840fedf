/** Documents of the first batch when the client names no batchSize. */
export const defaultFirstBatch = 101

/** Most bytes of a batch; one document always fits. */
export const batchBytesMax = 16 * 1024 * 1024

/** Idle time after which a cursor is closed; the default of cursorTimeoutMillis. */
export const cursorTimeoutMs = 10 * 60_000
