/** What a cluster was at one moment, to go on from as often as one likes. */
import type { EmulatedVersion } from '@shardlab/sharding'
import { OptionError } from '../option-error.js'
import type { SnapshotContent } from './snapshot-content.js'
import { loadSnapshot, saveSnapshot } from './snapshot-file.js'

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

  /**
   * Writes what is on the disks of its members to a file, for {@link ClusterSnapshot.load} and `ShardedCluster.start({ from: path })`: a cluster
   * that starts from it is what this one would be after a restart of all members. A file that is there is replaced when the new one is complete.
   * @throws OptionError one sentence, when it cannot be written
   */
  async save(path: string): Promise<void> {
    await saveSnapshot(path, contentOf(this), this.takenAtMs)
  }

  /** @throws OptionError one sentence, for a file that is not there, none of {@link save}, of another format, cut short or damaged */
  static async load(path: string): Promise<ClusterSnapshot> {
    const { content, takenAtMs } = await loadSnapshot(path)
    return new ClusterSnapshot(content, takenAtMs)
  }
}

/** @throws OptionError for anything else */
export function contentOf(snapshot: ClusterSnapshot | string): SnapshotContent {
  const content = contents.get(snapshot as ClusterSnapshot)
  if (content === undefined) throw new OptionError('that is no snapshot: take one with await cluster.snapshot().')
  return content
}
