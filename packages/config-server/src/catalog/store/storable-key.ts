import { BsonType, CommandError, FieldIterator, fieldsOf, type RawValue } from '@shardlab/bson'
import { formatField } from '@shardlab/query'

/**
 * The catalog cannot store arrays, regular expressions, or documents with `$` names. Server:
 * ShardKeyPattern::checkShardKeyIsValidForMetadataStorage.
 * @throws CommandError 2 BadValue
 */
export function checkStorableKey(key: Uint8Array): void {
  for (const [name, value] of fieldsOf(key))
    if (!isStorable(value))
      throw new CommandError('BadValue', `Shard key element ${formatField(name, value)} is not valid for storage`)
}

function isStorable(value: RawValue): boolean {
  if (value.type === BsonType.array || value.type === BsonType.regex) return false
  return value.type !== BsonType.object || hasStorableNames(value.bytes, value.start)
}

function hasStorableNames(bytes: Uint8Array, start: number): boolean {
  for (const it = new FieldIterator(bytes, start); it.next();) {
    const name = it.name()
    if (name.startsWith('$') && name !== '$ref' && name !== '$id' && name !== '$db') return false
    if ((it.type === BsonType.object || it.type === BsonType.array) && !hasStorableNames(bytes, it.valueStart))
      return false
  }
  return true
}
