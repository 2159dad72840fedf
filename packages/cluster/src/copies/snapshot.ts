import type { EmulatedVersion } from '@shardlab/sharding'
import { OptionError } from '../option-error.js'
import type { SnapshotContent } from './snapshot-content.js'
import { loadSnapshot, saveSnapshot } from './snapshot-file.js'

const contents = new WeakMap<ClusterSnapshot, SnapshotContent>()

/**
 * A cluster at one moment: documents, indexes, disks, metadata, routing tables, retryable writes,
 * sessions, parameters, timers and, with a manual clock, the time. Its pages are shared with the
 * cluster and all copies, so it costs memory only for pages that have changed since.
 */
export class ClusterSnapshot {
  /** Eight letters and digits; a loaded snapshot has the id of the saved one. */
  readonly id: string
  /** In milliseconds since the epoch by the cluster's clock. */
  readonly takenAtMs: number
  readonly emulate: EmulatedVersion
  /** Includes members that were down. */
  readonly members: readonly string[]

  /** Use {@link ShardedCluster.snapshot}. */
  constructor(content: SnapshotContent, takenAtMs: number) {
    this.id = content.id
    this.takenAtMs = takenAtMs
    this.emulate = content.options.emulate
    this.members = content.world.members.map(({ spec }) => spec.address)
    contents.set(this, content)
  }

  /**
   * Writes the disks of the members to a file, for {@link ClusterSnapshot.load} and
   * `ShardedCluster.start({ from: path })`. A cluster that starts from the file equals this one
   * after a restart of all members. An existing file is replaced once the new one is complete.
   * @throws OptionError if the file cannot be written
   */
  async save(path: string): Promise<void> {
    await saveSnapshot(path, contentOf(this), this.takenAtMs)
  }

  /**
   * @throws OptionError the file is missing, truncated, damaged, of another format, or not a
   * snapshot
   */
  static async load(path: string): Promise<ClusterSnapshot> {
    const { content, takenAtMs } = await loadSnapshot(path)
    return new ClusterSnapshot(content, takenAtMs)
  }
}

/** @throws OptionError when the argument is not a snapshot */
export function contentOf(snapshot: ClusterSnapshot | string): SnapshotContent {
  const content = contents.get(snapshot as ClusterSnapshot)
  if (content === undefined) throw new OptionError('invalid snapshot: take one with await cluster.snapshot().')
  return content
}
