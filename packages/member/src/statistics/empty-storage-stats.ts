import { DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export function writeEmptyStorageStats(
  writer: DocumentWriter,
  { orphansAreCounted, statisticsHaveTotals }: Behaviours,
  scale: number,
): DocumentWriter {
  const zeros = ['size', 'count', 'numOrphanDocs', 'storageSize', 'totalSize', 'nindexes', 'totalIndexSize']
  for (const name of zeros) {
    if ((name !== 'numOrphanDocs' || orphansAreCounted) && (name !== 'totalSize' || statisticsHaveTotals))
      writer.int32(name, 0)
  }
  writer.startDocument('indexDetails').end().startDocument('indexSizes').end()
  return statisticsHaveTotals ? writer.int32('scaleFactor', scale) : writer
}
