/** Collections that grow until the cluster splits or moves a chunk. */
import type { Document } from 'mongodb'
import type { MigrationEvent, SplitEvent } from 'shardlab'
import type { Loose, TestCluster } from '../../support/clusters.js'

const documentBytes = 50_000
const batch = 10
const documentsMax = 400

/** Runs with chunks of 1 MB, the smallest size that a server accepts. */
export async function withSmallChunks<T>(lab: TestCluster, run: () => Promise<T>): Promise<T> {
  const settings = lab.config.collection<Document & { _id: string }>('settings')
  await settings.updateOne({ _id: 'chunksize' }, { $set: { value: 1 } }, { upsert: true })
  try {
    return await run()
  } finally {
    await settings.deleteOne({ _id: 'chunksize' })
  }
}

export interface GrowOptions {
  /**
   * `split`: a chunk of the collection was split; `migration`: a chunk moved to another shard;
   * `settled`: the collection has 2 MB, and no chunk is split or moved any more.
   */
  readonly until: 'split' | 'migration' | 'settled'
  /** The event to wait for. Default: the first. */
  readonly which?: (event: SplitEvent | MigrationEvent) => boolean
  /** The shard key value of document i. Default: i. */
  readonly x?: (i: number) => number
}

/**
 * Inserts documents of 50 KB, ten at a time.
 * @returns the awaited event; null for `settled`
 */
export async function grow(
  lab: TestCluster,
  collection: Loose,
  { until, which = () => true, x = (i) => i }: GrowOptions,
): Promise<SplitEvent | MigrationEvent | null> {
  let heard: SplitEvent | MigrationEvent | null = null
  const listen = (event: SplitEvent | MigrationEvent) => {
    if (heard !== null || event.ns !== collection.namespace || event.type !== until) return
    if ((event.type === 'migration' && event.stage !== 'committed') || !which(event)) return
    heard = event
  }
  lab.cluster.on('split', listen)
  lab.cluster.on('migration', listen)
  try {
    const text = 'x'.repeat(documentBytes)
    const max = until === 'settled' ? 40 : documentsMax
    for (let from = 0; from < max && heard === null; from += batch) {
      await collection.insertMany(Array.from({ length: batch }, (_, i) => ({ _id: from + i, x: x(from + i), text })))
      // Without this pause the writer may split each chunk again before it can move.
      await lab.cluster.balancer.idle()
    }
    if (until === 'settled') await lab.cluster.balancer.settle()
    else if (heard === null) throw new Error(`${collection.namespace} has ${documentsMax} documents and no ${until}`)
    return heard
  } finally {
    lab.cluster.off('split', listen)
    lab.cluster.off('migration', listen)
  }
}

/** The number of chunks by a field `x` that hold at least one of the values 0 to `count` - 1. */
export function chunksThatHold(chunks: readonly Document[], count: number): number {
  const values = Array.from({ length: count }, (_, i) => i)
  const bound = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)
  return chunks.filter(({ min, max }) =>
    values.some((value) => bound(min.x, -Infinity) <= value && value < bound(max.x, Infinity)),
  ).length
}
