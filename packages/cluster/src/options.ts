import type { StartParameters } from '@shardlab/member'
import type { TlsSettings } from '@shardlab/runtime'
import type { EmulatedVersion } from '@shardlab/sharding'
import type { ClusterSnapshot } from './copies/snapshot.js'
import type { ClientLimits } from './limit-options.js'
import type { ClusterMachines } from './nats/nats-options.js'
import type { SetMembers } from './sets/member-options.js'
import type { TopologyName } from './topology-name.js'

/** Options of {@link ShardedCluster.start}. Each has a default. */
export interface ClusterOptions {
  /**
   * `sharded` (default); `replica-set`: one set without sharding; `standalone`: one mongod without
   * a set. Only `sharded` has shards, mongoses, a config server and a balancer.
   */
  readonly topology?: TopologyName
  /**
   * Of each set: their number, 1 to 7, or a list such as `[{ priority: 2 }, {}, { arbiterOnly: true
   * }]`. The sets are the replica set (default 3), or each shard and the config server (default 1).
   */
  readonly members?: SetMembers
  /**
   * Of a sharded cluster: members of single sets by their name, instead of `members`: `config`,
   * `shard01`, or a name in `standby`. Default: none.
   */
  readonly sets?: Readonly<Record<string, SetMembers>>
  /** Of a replica set: its name. Default `rs0`. */
  readonly setName?: string
  /**
   * false: the members of the replica set, or of sets in `standby`, run without a configuration and
   * wait for `replSetInitiate`. Default true.
   */
  readonly initiate?: boolean
  /** 0 to 1000. Default 3. */
  readonly shards?: number
  /**
   * Names of replica sets to start that are no shards yet: `addShard` adds them, with
   * {@link StandbyInfo.host}. Default: none.
   */
  readonly standby?: readonly string[]
  /** 1 to 100. Default 1. */
  readonly mongos?: number
  /**
   * Port of the first mongos, of the first member of a replica set, or of a standalone mongod; the
   * others use the following ones. 0 (default): any free ports.
   */
  readonly port?: number
  /**
   * Address to listen on. One that other machines reach needs `auth` or `insecure`. Default
   * 127.0.0.1.
   */
  readonly host?: string
  /** Other machines may connect without a user. Default false. */
  readonly insecure?: boolean
  /**
   * Serve clients by TLS. With `nats` each host reads the files, at absolute paths. Default:
   * without.
   */
  readonly tls?: TlsSettings
  /** Default `7.0`. */
  readonly emulate?: EmulatedVersion
  /** A text such as `64KB`, `128MB`. At least 1KB. Default: the version's. */
  readonly chunkSize?: string
  /**
   * Run the members on hosts that a NATS server connects, instead of in this process; `port` then
   * is one of their machines. Default: in this process.
   */
  readonly nats?: ClusterMachines
  /** `threads` (default): actors on worker threads; `inline`: all in the caller's thread. */
  readonly runtime?: 'threads' | 'inline'
  /**
   * Only for `inline`. `manual`: time passes in {@link ShardedCluster.advance}, and with
   * `autoAdvance`. Default `real`.
   */
  readonly clock?: 'real' | 'manual'
  /**
   * With a manual clock: while a client waits and only timers are left, time jumps to the next
   * timer. Otherwise a client of a shard that is down would wait for ever. Default true.
   */
  readonly autoAdvance?: boolean
  /**
   * Only for `threads`: number of worker threads that share the members. Default: one less than
   * there are cores, from 1 to 4.
   */
  readonly hosts?: number
  /** Determines every random decision. Default: drawn at start, see {@link ShardedCluster.seed}. */
  readonly seed?: number
  /** Pause between rounds in ms. Default 1000; with `serverTimings` 10000, as the server. */
  readonly balancerRoundIntervalMs?: number
  /**
   * Use the server's timings instead of shorter ones: of the balancer, of heartbeats (2 s instead
   * of 250 ms) and of elections (10 s instead of 2 s). Reshardings take five minutes only with the
   * parameter `reshardingMinimumOperationDurationMillis`. Default false.
   */
  readonly serverTimings?: boolean
  /**
   * After this time without a primary, members that need it fail with
   * FailedToSatisfyReadPreference. In ms. Default 15000, as the server.
   */
  readonly findReplicaSetHostTimeoutMs?: number
  /**
   * A shard without writes appends a no-op to its oplog so often, and change streams of routers
   * wait for it, as on the server, whose default is 10. From 1 to 10. Default: when a stream needs
   * one.
   */
  readonly periodicNoopIntervalSecs?: number
  /**
   * Members close a link on which nothing arrives for this time, in ms. Default 10000, as the
   * server's monitors.
   */
  readonly networkTimeoutMs?: number
  /**
   * hello announces the version's real wire versions, so current drivers refuse old profiles.
   * Default false.
   */
  readonly nativeWire?: boolean
  /**
   * Serve the dashboard, a web page about the running cluster: `true` on any free port, or a port.
   * With `auth`, pages log in. Only browsers of this machine can open it, except with `auth`, `tls`
   * and a `host` of other machines. Default false; see `ShardedCluster.dashboard`.
   */
  readonly dashboard?: boolean | number
  /**
   * Clients need a user with the privileges for their commands. The first user is created by the
   * localhost exception. Default false.
   */
  readonly auth?: boolean
  /** Of each member. Default: those of {@link ClientLimits}. */
  readonly limits?: ClientLimits
  /**
   * Server parameters of all members that have them, by name: what `--setParameter` sets on a
   * server. Default: none.
   */
  readonly setParameter?: StartParameters
  /**
   * Refuse commands, stages and operators whose results would silently lack something, with
   * CommandNotSupported 115. Default false.
   */
  readonly strict?: boolean
  /**
   * Shards split chunks while writes make them grow, and move the chunk at the end of the key space
   * away. Default: as in the emulated version, which is until 6.0.2. `true` shows what the manual
   * of 7.0 says of a growing key (D823).
   */
  readonly autoSplit?: boolean
  /**
   * A snapshot ({@link ShardedCluster.snapshot}), or the path of a file that
   * {@link ClusterSnapshot.save} wrote. It determines all options except `port`, `host`,
   * `insecure`, `tls` and `autoAdvance`. Default: an empty cluster.
   */
  readonly from?: ClusterSnapshot | string
  /**
   * Of each member: a text such as `64MB`, from 1KB to a sixteenth of the disk. Default 4MB, in
   * sets of several members 16MB.
   */
  readonly oplogSize?: string
  /** For each shard and config server: a text such as `1GB`. Default 2GB. */
  readonly diskSize?: string
  /**
   * Directory for the data, which is created if it is missing. A cluster continues with the data of
   * an earlier one, with its shards, members and version. Default: data is in memory.
   */
  readonly dbPath?: string
}

/** Options that a simulated cluster does not have. */
export type LiveOnly =
  | 'runtime'
  | 'nats'
  | 'clock'
  | 'autoAdvance'
  | 'hosts'
  | 'port'
  | 'host'
  | 'dashboard'
  | 'insecure'
  | 'tls'
  | 'from'
  | 'dbPath'
  | 'topology'
  | 'setName'
  | 'initiate'
