import { toExtendedJson } from '@shardlab/bson'
import type { CheckpointImage, Collection, StorageEngine } from '../../src/index.js'

export function stateOf(engine: StorageEngine): unknown {
  return engine.collections().map(stateOfCollection)
}

export function stateOfCollection(collection: Collection): unknown {
  return {
    ns: collection.ns,
    uuid: Buffer.from(collection.uuid).toString('hex'),
    options: toExtendedJson(collection.options),
    count: collection.count,
    dataSizeBytes: collection.dataSizeBytes,
    documents: [...collection.scan()].map(({ recordId, document }) => [
      recordId,
      toExtendedJson(document, { canonical: true }),
    ]),
    indexes: collection.indexes().map((index) => ({
      spec: toExtendedJson(index.spec),
      multikey: index.multikeyPaths.map((components) => [...components].sort()),
      entries: index.entries,
      sizeBytes: index.sizeBytes,
      records: [...index.seek({})],
    })),
  }
}

export function bytesOf(image: CheckpointImage): Uint8Array {
  const bytes = new Uint8Array(image.length)
  image.copyTo(bytes)
  return bytes
}
