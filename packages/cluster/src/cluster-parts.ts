import type { Runtime } from '@shardlab/runtime'
import type { Relocation } from './copies/relocation.js'
import type { WireCopies } from './copies/wire-copies.js'
import type { DurableStart } from './durable/durable-start.js'
import type { Faults } from './faults/faults.js'
import type { LiveStream } from './live/live-stream.js'
import type { WatchedEvents } from './watched-events.js'

/** What a running cluster consists of. */
export interface ClusterParts {
  readonly id: string
  readonly runtime: Runtime
  readonly relocation: Relocation
  readonly faults: Faults
  readonly copies: WireCopies
  /** Null: the data is in memory. */
  readonly directory: DurableStart | null
  readonly live: LiveStream
  readonly watched: WatchedEvents
}
