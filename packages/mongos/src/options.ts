import type { StartOptions } from '@shardlab/member'
import type { EmulatedVersion } from '@shardlab/sharding'

/** Limits of a router's tables, batches and retries (law 9). Reaching one emits a `limit` event. */
export interface MongosLimits {
  /** Opening another cursor fails with 365 TemporarilyUnavailable. */
  readonly cursorsMax: number
  /** Of dropped collections; those whose collection was dropped first are closed. */
  readonly droppedCursorsMax: number
  /** The oldest cached placement is evicted first. */
  readonly cachedCollectionsMax: number
  readonly cachedDatabasesMax: number
  /** Of one operation with stale routing. Server: kMaxNumStaleVersionRetries. */
  readonly staleAttemptsMax: number
  /** Of one idempotent request after its peer failed. Server: kMaxNumFailedHostRetryAttempts. */
  readonly remoteRetriesMax: number
  /** Of one transaction that the router runs for a client, after transient errors. */
  readonly transactionAttemptsMax: number
  /** Rounds of a write batch in which no statement completes. Server: kMaxRoundsWithoutProgress. */
  readonly fruitlessRoundsMax: number
  /** Before a request is repeated after a retriable error; doubled each time. */
  readonly firstRetryPauseMs: number
  /** Limits the statements in one batch to a shard. */
  readonly shardBatchBytesMax: number
  /** Limits the bounds in one `routed` event. */
  readonly eventBoundsMax: number
  /** The user that was cached first is read again. Server: authorizationManagerCacheSize. */
  readonly cachedUsersMax: number
}

export const defaultMongosLimits: MongosLimits = {
  cursorsMax: 100_000,
  droppedCursorsMax: 1000,
  cachedCollectionsMax: 10_000,
  cachedDatabasesMax: 10_000,
  staleAttemptsMax: 10,
  remoteRetriesMax: 3,
  transactionAttemptsMax: 1000,
  fruitlessRoundsMax: 5,
  firstRetryPauseMs: 5,
  shardBatchBytesMax: 47_000_000,
  eventBoundsMax: 20,
  cachedUsersMax: 100,
}

export function limitsOf({ startOptions, limits }: MongosOptions): MongosLimits {
  const { cursorsMax = defaultMongosLimits.cursorsMax } = startOptions ?? {}
  return { ...defaultMongosLimits, cursorsMax, ...limits }
}

/** Plain data that can be sent to a worker. */
export interface MongosOptions {
  readonly emulate: EmulatedVersion
  /**
   * How long the router tries to reach an unavailable member. Server:
   * defaultFindReplicaSetHostTimeoutMS.
   */
  readonly findReplicaSetHostTimeoutMs: number
  /** Announce the emulated version's own wire versions, even if today's drivers reject them. */
  readonly nativeWire: boolean
  /** Clients need privileges for their commands. Default false. */
  readonly hasAccessControl?: boolean
  readonly startOptions?: StartOptions
  /** Reject commands and operators that are incomplete. Default false. */
  readonly strict?: boolean
  /** `set/host:port` of the config server, for getShardMap; undefined: omitted from the reply. */
  readonly configHost?: string
  /** Of the pings to the config server; default 30 s. */
  readonly pingIntervalMs?: number
  readonly limits?: Partial<MongosLimits>
}

export const defaultPingIntervalMs = 30_000
