export { isLocalHost } from './local-host.js'
export type * from './stream/deltas.js'
export { chunkDeltas, eventsMax, LiveState, placeOf, type ChunkCounts } from './stream/live-state.js'
export { ReaderError, Readers, type Batch, type ReadersOptions } from './stream/readers.js'
