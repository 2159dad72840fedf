/** The data of a node, with its log, which outlive the work of its role. */
import { ClusterClock, type ActorContext, type Disk } from '@shardlab/actor'
import { createMemoryEngine, type StorageEngine } from '@shardlab/storage'
import { NodeLog } from '../log/node-log.js'
import { RetryHistory } from '../retry/retry-history.js'
import { SnapshotHistory } from '../read/snapshots/snapshot-history.js'
import type { StorageNodeOptions } from './node-host.js'
import { WriteLock, type LockableDisk } from './write-lock.js'

/** Room for a million inserts. On the server, the size of the oplog limits the history. */
const defaultRetryHistoryBytesMax = 64 * 1024 * 1024
/** Room for ten thousand updates of small documents, and any number of inserts. */
const defaultSnapshotHistoryBytesMax = 4 * 1024 * 1024
/** Only clients read the oplog of a set with one member. */
const defaultOplogSizeBytes = 4 * 1024 * 1024
/** An image is never copied, but after it each page is copied at its first change. */
const checkpointAfterBytesOfImages = 64 * 1024 * 1024
/** A disk that copies has the memory of its longest log twice: small nodes have short logs. */
const checkpointAfterBytesOfCopies = 8 * 1024 * 1024

export class NodeStorage {
  readonly engine: StorageEngine = createMemoryEngine()
  readonly clock: ClusterClock
  readonly retries: RetryHistory
  readonly log: NodeLog
  readonly snapshots: SnapshotHistory
  readonly writeLock: WriteLock

  constructor(
    context: ActorContext & { readonly disk: Disk & LockableDisk },
    {
      retryHistoryBytesMax = defaultRetryHistoryBytesMax,
      snapshotHistoryBytesMax = defaultSnapshotHistoryBytesMax,
      checkpointAfterBytes,
      oplogSizeBytes = Math.min(defaultOplogSizeBytes, checkpointAfterBytes ?? defaultOplogSizeBytes),
    }: StorageNodeOptions,
  ) {
    const limitReached = (limit: string, value: number): void =>
      context.emit({ type: 'limit', atMs: context.now(), member: context.address, limit, value })
    this.clock = new ClusterClock(() => context.now())
    this.retries = new RetryHistory({
      bytesMax: retryHistoryBytesMax,
      isForgetful: context.mutated('retryDedupeOff'),
      onLimit: () => limitReached('retryHistoryBytesMax', retryHistoryBytesMax),
    })
    this.log = new NodeLog({
      engine: this.engine,
      disk: context.disk,
      clock: this.clock,
      now: () => context.now(),
      detach: (work) => context.detach(work),
      retries: this.retries,
      options: {
        checkpointAfterBytes:
          checkpointAfterBytes ??
          (context.disk.keepsImages === true ? checkpointAfterBytesOfImages : checkpointAfterBytesOfCopies),
        oplogSizeBytes,
      },
    })
    this.writeLock = new WriteLock(context.disk, () => this.log.flush())
    this.snapshots = new SnapshotHistory(this.engine, {
      now: () => context.now(),
      bytesMax: snapshotHistoryBytesMax,
      onLimit: () => limitReached('snapshotHistoryBytesMax', snapshotHistoryBytesMax),
    })
  }
}
