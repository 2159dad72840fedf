import type { EmulatedVersion } from '@shardlab/sharding'
import type { ClusterSnapshot } from './copies/snapshot.js'

/** Options of {@link ShardedCluster.start}. Each has a default. */
export interface ClusterOptions {
  /** Number of shards, 1 to 1000. Default 3. */
  readonly shards?: number
  /** Number of mongoses, 1 to 100. Default 1. */
  readonly mongos?: number
  /**
   * Port of the first mongos; the others listen on the following ones. 0 (default): any free ports.
   */
  readonly port?: number
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Server version to emulate. Default `7.0`. */
  readonly emulate?: EmulatedVersion
  /**
   * Chunk size in bytes, or as a text such as `64KB`, `128MB`. At least 1KB. Default: the
   * version's.
   */
  readonly chunkSize?: number | string
  /** `threads` (default): actors on worker threads; `inline`: all in the caller's thread. */
  readonly runtime?: 'threads' | 'inline'
  /**
   * For `inline`. `manual`: time passes only in {@link ShardedCluster.advance}, and with
   * `autoAdvance`. Default `real`.
   */
  readonly clock?: 'real' | 'manual'
  /**
   * With a manual clock: while a client waits and nothing is left to do but wait for timers, time
   * jumps to the next timer. Otherwise a client of a shard that is down would wait for ever.
   * Default true.
   */
  readonly autoAdvance?: boolean
  /**
   * For `threads`: number of worker threads that share the members. Default: one for each member
   * with at most 6 members, or with at most 12 members and as many cores; otherwise one less than
   * there are cores, from 1 to 4.
   */
  readonly hosts?: number
  /** Seed of every random decision. Default: drawn at start, see {@link ShardedCluster.seed}. */
  readonly seed?: number
  /**
   * Pause between balancer rounds in ms. Default 1000; with `serverTimings` 10000, as the server.
   */
  readonly balancerRoundIntervalMs?: number
  /** Use the server's timings instead of shorter ones. Default false. */
  readonly serverTimings?: boolean
  /**
   * How long a mongos looks for a shard's primary before it fails with
   * FailedToSatisfyReadPreference, in ms. Default 15000, as the server.
   */
  readonly findReplicaSetHostTimeoutMs?: number
  /**
   * Members close a link on which nothing has arrived for this time, in ms. Default 10000, as the
   * server's monitors.
   */
  readonly networkTimeoutMs?: number
  /**
   * hello announces the version's real wire versions, so that current drivers refuse old profiles.
   * Default false.
   */
  readonly nativeWire?: boolean
  /**
   * Refuse commands, stages and operators whose results would silently lack something with
   * CommandNotSupported 115. Default false.
   */
  readonly strict?: boolean
  /**
   * A snapshot to start from ({@link ShardedCluster.snapshot}), or the path of a file that
   * {@link ClusterSnapshot.save} wrote. It determines all options except `port`, `host` and
   * `autoAdvance`. Default: an empty cluster.
   */
  readonly from?: ClusterSnapshot | string
  /**
   * Size limit of the disk of a shard or config server: bytes, or a text such as `1GB`. Default
   * 2GB.
   */
  readonly diskSize?: number | string
}

/** Options of how members run and listen. A simulated cluster has none of them. */
export type LiveOnly = 'runtime' | 'clock' | 'autoAdvance' | 'hosts' | 'port' | 'host' | 'from'
