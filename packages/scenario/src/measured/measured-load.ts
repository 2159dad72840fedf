import { counted } from '@shardlab/quantities'
import type { DataSet } from '../file/application.js'
import { ScenarioError } from '../run/failure.js'
import type { MeasuredCollection } from './measured-collection.js'

/**
 * For versions that split growing chunks: as in a bulk insert; more if there are many documents
 * already, or so many chunks that each gets only this share of its limit.
 */
const portion = { documents: 1000, bytes: 1024 * 1024, share: 0.2, shareOfChunks: 0.2 } as const

export async function loadMeasured(
  collection: MeasuredCollection,
  data: DataSet,
  { autoSplit, chunkSizeBytes }: { readonly autoSplit: boolean; readonly chunkSizeBytes: number },
  onPortion: (bytes: number) => void,
): Promise<void> {
  const bytes = collection.documentBytes(data.fields, data.documentSize)
  const all = Math.round(data.size / data.documentSize)
  const least = !autoSplit
    ? all
    : Math.max(1, Math.min(portion.documents, Math.floor(portion.bytes / data.documentSize)))
  let missed = 0
  for (let loaded = 0; loaded < all;) {
    const owners = await collection.owners()
    const chunks = ((await collection.chunks()) * chunkSizeBytes * portion.shareOfChunks) / data.documentSize
    const count = Math.min(all - loaded, Math.round(Math.max(least, loaded * portion.share, chunks)))
    const ranges = collection.rangesOf(owners, collection.place(collection.weights(data.fields), count), count, bytes)
    const taken = await Promise.all([...ranges].map(([shard, each]) => collection.change(shard, each, false)))
    missed += count - taken.reduce((sum, each) => sum + each, 0)
    loaded += count
    onPortion(count * data.documentSize)
  }
  if (missed > all * 0.01)
    throw new ScenarioError(`no shard accepted ${missed} of ${counted(all, 'document')} of ${data.ns}.`)
}
