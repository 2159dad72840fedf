/** Server: isValidShardKeyElementForStorage; BSONObj::storageValidEmbedded. */
import { BsonType, FieldIterator, type RawValue } from '@shardlab/bson'

/**
 * False for an object with a field that begins with a dollar sign, at any depth, except for those
 * of a DBRef. In every version such a value of a filter gives no shard key, also where it could be
 * stored.
 */
export function isStorable({ type, bytes, start }: RawValue): boolean {
  return (type !== BsonType.object && type !== BsonType.array) || areStorable(bytes, start)
}

function areStorable(bytes: Uint8Array, start: number): boolean {
  let previous: string | null = null
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const name = it.name()
    if (previous === '$ref' && name !== '$id') return false
    if (name.startsWith('$') && !isReferencePart(previous, name, it.type)) return false
    if (!isStorable(it.value())) return false
    previous = name
  }
  return previous !== '$ref'
}

/** DBRefs begin with `$ref` and `$id`, which `$db` may follow. */
function isReferencePart(previous: string | null, name: string, type: number): boolean {
  switch (name) {
    case '$ref':
      return previous === null && type === BsonType.string
    case '$id':
      return previous === '$ref'
    default:
      return name === '$db' && previous === '$id' && type === BsonType.string
  }
}
