/** What a cluster was at one moment, to go on from as often as one likes. */
import type { WorldCopy } from '@shardlab/runtime'
import type { EmulatedVersion } from '@shardlab/sharding'
import { OptionError } from '../option-error.js'
import type { ResolvedOptions } from '../options.js'

/** What is in a snapshot; nobody changes it. */
export interface SnapshotContent {
  readonly world: WorldCopy
  readonly options: ResolvedOptions
}

const contents = new WeakMap<ClusterSnapshot, SnapshotContent>()

/**
 * A cluster at one moment: documents, indexes, disks, metadata, what routers know, retryable writes, sessions, parameters, timers and, with a
 * manual clock, the time. Its pages are shared with the cluster and all copies, so it holds only what has changed since.
 */
export class ClusterSnapshot {
  /** When it was taken, in milliseconds since the epoch of the cluster's clock. */
  readonly takenAtMs: number
  readonly emulate: EmulatedVersion
  /** Addresses of the members, those that were down among them. */
  readonly members: readonly string[]

  /** Snapshots are taken by {@link ShardedCluster.snapshot}. */
  constructor(content: SnapshotContent, takenAtMs: number) {
    this.takenAtMs = takenAtMs
    this.emulate = content.options.emulate
    this.members = content.world.members.map(({ spec }) => spec.address)
    contents.set(this, content)
  }
}

/** @throws OptionError for anything else */
export function contentOf(snapshot: ClusterSnapshot): SnapshotContent {
  const content = contents.get(snapshot)
  if (content === undefined) throw new OptionError('that is no snapshot: take one with await cluster.snapshot().')
  return content
}
