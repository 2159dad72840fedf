/** Clients write to config.* as they like; what they spoil counts as not there. */
import { BsonType, FieldIterator } from '@shardlab/bson'

interface EssentialField {
  readonly name: Uint8Array
  readonly type: number
  /** One of its own for each field of a collection. */
  readonly bit: number
}

const fieldsOf = (types: Readonly<Record<string, number>>): readonly EssentialField[] =>
  Object.entries(types).map(([name, type], i) => ({ name: Buffer.from(name), type, bit: 1 << i }))

/** By collection: fields without which nobody can make sense of a document, and their types. */
const essentialFields: ReadonlyMap<string, readonly EssentialField[]> = new Map([
  ['config.shards', fieldsOf({ _id: BsonType.string, host: BsonType.string })],
  ['config.databases', fieldsOf({ _id: BsonType.string, primary: BsonType.string })],
  ['config.collections', fieldsOf({ _id: BsonType.string, lastmodEpoch: BsonType.objectId, uuid: BsonType.binary, key: BsonType.object })],
  ['config.chunks', fieldsOf({ min: BsonType.object, max: BsonType.object, shard: BsonType.string, lastmod: BsonType.timestamp })],
  ['config.queryAnalyzers', fieldsOf({ _id: BsonType.string, collUuid: BsonType.binary, mode: BsonType.string, startTime: BsonType.date })],
])

/** Has the document of this collection all fields that it needs, with the right types? Of fields of one name the first counts. */
export function isWellFormed(ns: string, document: Uint8Array): boolean {
  const essential = essentialFields.get(ns)
  if (essential === undefined) return true
  const all = (1 << essential.length) - 1
  let seen = 0
  for (const it = new FieldIterator(document); seen !== all && it.next();) {
    const field = fieldNamed(essential, document, it.nameStart)
    if (field === undefined || (seen & field.bit) !== 0) continue
    if (it.type !== field.type) return false
    seen |= field.bit
  }
  return seen === all
}

/** Names are compared where they lie: a balancer's first look goes through all chunks. */
function fieldNamed(fields: readonly EssentialField[], bytes: Uint8Array, start: number): EssentialField | undefined {
  for (let k = 0; k < fields.length; k++) {
    const { name } = fields[k]!
    let i = 0
    while (i < name.length && bytes[start + i] === name[i]) i++
    if (i === name.length && bytes[start + i] === 0) return fields[k]
  }
  return undefined
}
