import { BSON } from 'bson'
import { FieldIterator } from '../scan/scan.js'
import type { RawValue } from '../values/raw-value.js'
import { BsonType } from '../values/types.js'

/** Relaxed by default. An int64 keeps all its digits. Invalid UTF-8 becomes U+FFFD. */
export function toExtendedJson(bytes: Uint8Array, options: { canonical?: boolean } = {}): string {
  const plain = options.canonical === true ? undefined : relaxedTextOfPlain(bytes)
  if (plain !== undefined) return plain
  const document = BSON.deserialize(bytes, {
    promoteValues: false,
    promoteBuffers: false,
    bsonRegExp: true,
    validation: { utf8: false },
  })
  if (options.canonical) return BSON.EJSON.stringify(document, { relaxed: false })
  const marked =
    !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(largeLong) && markLargeLongs(document)
  const text = BSON.EJSON.stringify(document, { relaxed: true })
  return marked ? text.replace(markedLongs, '$1') : text
}

/** A name without special meaning in JavaScript or Extended JSON. */
const plainName = /^(?:_id|[A-Za-z][\w.]*)$/

/**
 * Covers the types of most chunk bounds: integers, strings, MinKey, MaxKey. Avoids decoding.
 * Undefined: the document has other values.
 */
function relaxedTextOfPlain(bytes: Uint8Array): string | undefined {
  const names: string[] = []
  let text = '{'
  for (const it = new FieldIterator(bytes); it.next();) {
    const name = it.name()
    const value = relaxedTextOfScalar(it.value())
    // In an object, a repeated name has its first position and its last value.
    if (value === undefined || !plainName.test(name) || names.includes(name)) return undefined
    text += `${names.length === 0 ? '' : ','}"${name}":${value}`
    names.push(name)
  }
  return text + '}'
}

function relaxedTextOfScalar(value: RawValue): string | undefined {
  switch (value.type) {
    case BsonType.int32:
    case BsonType.int64:
      return String(value.asBigInt())
    case BsonType.string:
      return JSON.stringify(value.asString())
    case BsonType.minKey:
      return '{"$minKey":1}'
    case BsonType.maxKey:
      return '{"$maxKey":1}'
    default:
      return undefined
  }
}

const largeLong = '\u0001int64:'
const markedLongs = /"\\u0001int64:(-?\d+)"/g

/**
 * JSON.stringify keeps only 53 bits of a number. Longer ones become marked strings, unless the
 * document contains such a string.
 */
function markLargeLongs(value: object): boolean {
  let marked = false
  for (const [name, each] of Object.entries(value) as [string, unknown][]) {
    if (typeof each !== 'object' || each === null) continue
    if (each instanceof BSON.Long) {
      if (Number.isSafeInteger(each.toNumber())) continue
      Reflect.set(value, name, `${largeLong}${each.toString()}`)
      marked = true
    } else if (!('_bsontype' in each) && markLargeLongs(each)) marked = true
  }
  return marked
}
