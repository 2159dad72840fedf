import { BsonType, CommandError, FieldIterator, isEmptyDocument } from '@shardlab/bson'
import { toNumber } from '../values/arithmetic.js'
import { formatField } from '../values/format.js'

export interface KeyField {
  readonly path: string
  readonly direction: 1 | -1 | 'hashed'
}

export type KeyPattern = readonly KeyField[]

/**
 * Reads `{a: 1, b: -1, c: 'hashed'}`; any number but zero counts by its sign.
 * @throws CommandError CannotCreateIndex (67) for a key that is neither ordered nor hashed; shard
 *   keys and createIndexes have rules of their own, which their callers check first
 */
export function parseKeyPattern(document: Uint8Array): KeyPattern {
  if (isEmptyDocument(document)) throw new CommandError('CannotCreateIndex', 'Index keys cannot be an empty object')
  const fields: KeyField[] = []
  for (const it = new FieldIterator(document); it.next();) {
    const path = it.name()
    const value = it.value()
    if (path === '') throw new CommandError('CannotCreateIndex', 'Index keys cannot be an empty field')
    if (value.isNumber()) {
      const number = toNumber(value)
      if (number === 0 || Number.isNaN(number))
        throw new CommandError(
          'CannotCreateIndex',
          `Values in the index key pattern cannot be ${number === 0 ? '0' : 'NaN'}`,
        )
      fields.push({ path, direction: number < 0 ? -1 : 1 })
    } else if (value.type === BsonType.string) {
      if (value.asString() !== 'hashed')
        throw new CommandError('CannotCreateIndex', `Unknown index plugin '${value.asString()}'`)
      fields.push({ path, direction: 'hashed' })
    } else {
      throw new CommandError(
        'CannotCreateIndex',
        `Values in v:2 index key pattern must be numbers or strings: ${formatField(path, value)}`,
      )
    }
  }
  return fields
}
