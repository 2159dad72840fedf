/** Server: checkCollectionMetadataConsistencyAcrossShards. */
import { compareDocuments, DocumentWriter } from '@shardlab/bson'
import { inconsistency } from './inconsistency.js'

/**
 * @param options by shard, from those owners of chunks, and the primary shard, that have the
 *   collection
 */
export function optionInconsistencies(ns: string, options: ReadonlyMap<string, Uint8Array>): Uint8Array[] {
  const variants: { readonly options: Uint8Array; readonly shards: string[] }[] = []
  for (const [shard, document] of options) {
    const variant = variants.find((each) => compareDocuments(each.options, document) === 0)
    if (variant === undefined) variants.push({ options: document, shards: [shard] })
    else variant.shards.push(shard)
  }
  if (variants.length < 2) return []
  const shown = variants.map(({ options: document, shards }) => {
    const writer = new DocumentWriter(document.length + 64).startArray('shards')
    shards.forEach((shard, i) => writer.string(String(i), shard))
    return writer.end().document('options', document).finish()
  })
  return [
    inconsistency(
      'CollectionOptionsMismatch',
      'Found collection with mismatching options across shards and/or config server',
      ns,
      (details) => details.documents('options', shown),
    ),
  ]
}
