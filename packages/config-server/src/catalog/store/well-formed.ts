/** Malformed documents are ignored: clients can write anything into config.*. */
import { BsonType, FieldFinder } from '@shardlab/bson'

interface EssentialFields {
  readonly finder: FieldFinder
  readonly types: readonly number[]
}

const essential = (types: Readonly<Record<string, number>>): EssentialFields => ({
  finder: new FieldFinder(Object.keys(types)),
  types: Object.values(types),
})

const essentialFields: ReadonlyMap<string, EssentialFields> = new Map([
  ['config.shards', essential({ _id: BsonType.string, host: BsonType.string })],
  ['config.databases', essential({ _id: BsonType.string, primary: BsonType.string })],
  [
    'config.collections',
    essential({ _id: BsonType.string, lastmodEpoch: BsonType.objectId, uuid: BsonType.binary, key: BsonType.object }),
  ],
  [
    'config.chunks',
    essential({ min: BsonType.object, max: BsonType.object, shard: BsonType.string, lastmod: BsonType.timestamp }),
  ],
  ['config.mongos', essential({ _id: BsonType.string })],
  ['config.tags', essential({ ns: BsonType.string, min: BsonType.object, max: BsonType.object, tag: BsonType.string })],
  [
    'config.queryAnalyzers',
    essential({ _id: BsonType.string, collUuid: BsonType.binary, mode: BsonType.string, startTime: BsonType.date }),
  ],
])

/** Of fields with the same name the first counts. */
export function isWellFormed(ns: string, document: Uint8Array): boolean {
  const fields = essentialFields.get(ns)
  if (fields === undefined) return true
  const { finder, types } = fields
  finder.locate(document)
  for (let i = 0; i < types.length; i++) if (finder.typeOf(i) !== types[i]) return false
  return true
}
