import type { EmulatedVersion } from '@shardlab/sharding'
import type { ClusterSnapshot } from './copies/snapshot.js'

/** What {@link ShardedCluster.start} takes; everything has a default. */
export interface ClusterOptions {
  /** Number of shards, 1 to 1000. Default 3. */
  readonly shards?: number
  /** Number of mongoses, 1 to 100. Default 1. */
  readonly mongos?: number
  /** Port of the first mongos, the others take the next ones; 0 (default): any free ports. */
  readonly port?: number
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string
  /** Server version to behave as. Default `7.0`. */
  readonly emulate?: EmulatedVersion
  /** Chunk size: bytes, or a text like `64KB`, `128MB`. At least 1KB. Default: the version's own. */
  readonly chunkSize?: number | string
  /** `threads` (default): actors on worker threads; `inline`: all in the caller's thread. */
  readonly runtime?: 'threads' | 'inline'
  /**
   * For `inline`: `manual` lets time pass only in {@link ShardedCluster.advance}, and while somebody waits for it. Default `real`.
   */
  readonly clock?: 'real' | 'manual'
  /**
   * With a manual clock: while a client waits and only timers are left, time jumps to the next one, as a client of a shard that is down would
   * wait for ever. Default true.
   */
  readonly autoAdvance?: boolean
  /**
   * For `threads`: how many worker threads share the members. Default: one for each up to 6 members, and up to 12 with as many cores; above that
   * a thread less than there are cores, 1 to 4.
   */
  readonly hosts?: number
  /** Root of every random decision. Default: drawn at start, see {@link ShardedCluster.seed}. */
  readonly seed?: number
  /** Pause between balancer rounds in ms. Default 1000, with `serverTimings` the server's 10000. */
  readonly balancerRoundIntervalMs?: number
  /** The server's timings instead of quick ones. Default false. */
  readonly serverTimings?: boolean
  /** How long a mongos looks for a shard's primary before it gives up with FailedToSatisfyReadPreference, in ms. Default 15000, as the server. */
  readonly findReplicaSetHostTimeoutMs?: number
  /** How long a link on which nothing arrives keeps members waiting before both ends give it up, in ms. Default 10000, as the server's monitors. */
  readonly networkTimeoutMs?: number
  /** hello announces the version's real wire versions, with which old profiles no longer talk to today's drivers. Default false. */
  readonly nativeWire?: boolean
  /** Commands, stages and operators that would silently answer less than the server's are refused with CommandNotSupported 115. Default false. */
  readonly strict?: boolean
  /**
   * What the cluster begins with: see {@link ShardedCluster.snapshot}, or the path of a file that {@link ClusterSnapshot.save} has written. All options but `port`, `host` and `autoAdvance` come with it. Default:
   * an empty cluster.
   */
  readonly from?: ClusterSnapshot | string
  /** Largest disk of a shard or config server: bytes, or a text like `1GB`. Default 2GB. */
  readonly diskSize?: number | string
}

/** Options that say how members run and listen: a simulated cluster has none of them. */
export type LiveOnly = 'runtime' | 'clock' | 'autoAdvance' | 'hosts' | 'port' | 'host' | 'from'
