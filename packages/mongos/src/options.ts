import type { EmulatedVersion } from '@shardlab/sharding'

/** Upper ends of a router's tables, batches and retries (law 9). Reaching one emits a `limit` event. */
export interface MongosLimits {
  /** Open cursors; one more fails with TemporarilyUnavailable 365. */
  readonly cursorsMax: number
  /** Collections and databases whose placement is kept; the one cached longest ago is forgotten first. */
  readonly cachedCollectionsMax: number
  readonly cachedDatabasesMax: number
  /** Attempts of one operation whose routing turns out stale. Server: kMaxNumStaleVersionRetries. */
  readonly staleAttemptsMax: number
  /** Further sends of one idempotent request after its peer failed. Server: kMaxNumFailedHostRetryAttempts. */
  readonly remoteRetriesMax: number
  /** Rounds of a write batch that complete no statement. Server: kMaxRoundsWithoutProgress. */
  readonly fruitlessRoundsMax: number
  /** Pause between two attempts to reach a member that nobody answers for: doubles from the first to the second. */
  readonly firstRetryPauseMs: number
  readonly longestRetryPauseMs: number
  /** Bytes of statements in one batch to a shard. */
  readonly shardBatchBytesMax: number
  /** Bounds listed in one `routed` event. */
  readonly eventBoundsMax: number
}

/** The values that hold where an option names none. */
export const defaultMongosLimits: MongosLimits = {
  cursorsMax: 100_000,
  cachedCollectionsMax: 10_000,
  cachedDatabasesMax: 10_000,
  staleAttemptsMax: 10,
  remoteRetriesMax: 3,
  fruitlessRoundsMax: 5,
  firstRetryPauseMs: 5,
  longestRetryPauseMs: 500,
  shardBatchBytesMax: 47_000_000,
  eventBoundsMax: 20,
}

/** How a router is made. Plain data that can cross to a worker. */
export interface MongosOptions {
  readonly emulate: EmulatedVersion
  /** How long a member without an answer is looked for: defaultFindReplicaSetHostTimeoutMS. */
  readonly findReplicaSetHostTimeoutMs: number
  /** Announce the emulated version's own wire versions even where today's drivers refuse them. */
  readonly nativeWire: boolean
  /** Refuse commands and operators that silently lack something. Default false. */
  readonly strict?: boolean
  /** `set/host:port` of the config server, for getShardMap; absent: left out of it. */
  readonly configHost?: string
  /** How often the router tells the config server that it lives; default 30 s. */
  readonly pingIntervalMs?: number
  readonly limits?: Partial<MongosLimits>
}

export const defaultPingIntervalMs = 30_000
