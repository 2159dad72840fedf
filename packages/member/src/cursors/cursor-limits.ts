/** When the client names no batchSize. */
export const defaultFirstBatch = 101

/** One document always fits. */
export const batchBytesMax = 16 * 1024 * 1024

/**
 * Of a member's batch that a router or another member merges. Each batch is copied at once, during
 * which its thread serves no one. The reply fits into a buffer of 1 MB.
 */
export const mergedBatchBytesMax = 768 * 1024

/** Default of cursorTimeoutMillis. */
export const cursorTimeoutMs = 10 * 60_000
