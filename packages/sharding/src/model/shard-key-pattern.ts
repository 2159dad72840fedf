/** Server: shard_key_pattern.cpp. Manual: core/sharding-shard-key. */
import {
  BsonType,
  CommandError,
  compareValues,
  DocumentWriter,
  encodeKeyString,
  FieldIterator,
  fieldsOf,
  findField,
  hashedKeyString,
  hashedKeyValue,
  int32Value,
  maxKeyValue,
  minKeyValue,
  nullValue,
  readInt32,
  sameBytes,
  type RawValue,
} from '@shardlab/bson'
import { formatDocument, type KeyPattern } from '@shardlab/query'

export interface ShardKeyField {
  readonly path: string
  readonly hashed: boolean
  readonly parts: readonly string[]
}

export interface ExtractedKey {
  /** In pattern order; those of hashed fields are hashes. */
  readonly values: readonly RawValue[]
  /** The position in the key space; compare with `<`. */
  readonly keyString: string
}

export type NoKeyReason = 'array' | 'missing'

/** Known values of paths, for example the equalities of a filter. */
export interface ValuesByPath {
  get(path: string): RawValue | undefined
}

/** Commands about one collection parse the same pattern repeatedly. */
let lastLenient: ShardKeyPattern | null = null

export class ShardKeyPattern {
  readonly document: Uint8Array
  readonly fields: readonly ShardKeyField[]
  readonly paths: readonly string[]
  /** The pattern as an index pattern, which gives the bounds of predicates. */
  readonly keyPattern: KeyPattern
  readonly isHashed: boolean
  /** -1: no field is hashed. */
  readonly hashedIndex: number
  readonly globalMin: Uint8Array
  readonly globalMax: Uint8Array
  readonly globalMinKeyString: string
  readonly globalMaxKeyString: string
  /** In bytes. */
  readonly #firstNameLength: number

  private constructor(document: Uint8Array, fields: readonly ShardKeyField[]) {
    this.document = document
    this.fields = fields
    this.paths = fields.map((field) => field.path)
    this.keyPattern = fields.map((field) => ({
      path: field.path,
      direction: field.hashed ? ('hashed' as const) : (1 as const),
    }))
    this.#firstNameLength = Buffer.byteLength(this.paths[0]!)
    this.hashedIndex = fields.findIndex((field) => field.hashed)
    this.isHashed = this.hashedIndex >= 0
    this.globalMin = this.boundDocument(fields.map(() => minKeyValue))
    this.globalMax = this.boundDocument(fields.map(() => maxKeyValue))
    this.globalMinKeyString = encodeKeyString(fields.map(() => minKeyValue))
    this.globalMaxKeyString = encodeKeyString(fields.map(() => maxKeyValue))
  }

  /**
   * @param options.compoundHashed whether a hashed field may be combined with others (since 4.4)
   * @param options.refuseDollars whether path components that begin with `$` are rejected here;
   *   otherwise creating the index rejects them
   * @throws CommandError 2 BadValue for every pattern that cannot be a shard key
   */
  static parse(document: Uint8Array, options: { compoundHashed: boolean; refuseDollars?: boolean }): ShardKeyPattern {
    const { compoundHashed, refuseDollars = false } = options
    const isLenient = compoundHashed && !refuseDollars
    if (isLenient && lastLenient !== null && sameBytes(lastLenient.document, document)) return lastLenient
    const fields: ShardKeyField[] = []
    let fieldCount = 0
    for (const it = new FieldIterator(document); it.next();) fieldCount++
    for (const [path, value] of fieldsOf(document)) {
      const parts = path.split('.')
      if (path === '') throw new CommandError('BadValue', 'Field  is empty')
      if (parts.some((part) => part === '')) throw new CommandError('BadValue', `Field ${path} contains empty parts`)
      if (
        refuseDollars &&
        parts.some(
          (part, i) => part.startsWith('$') && !(i > 0 && (part === '$id' || part === '$db' || part === '$ref')),
        )
      ) {
        throw new CommandError('BadValue', `Field ${path} contains parts that start with '$'`)
      }
      const hashed = isHashedElement(value)
      const isLegal = hashed
        ? compoundHashed
          ? !fields.some((field) => field.hashed)
          : fieldCount === 1
        : isOne(value)
      if (!isLegal) throw unsupported(document, path, compoundHashed)
      fields.push({ path, hashed, parts })
    }
    if (fields.length === 0) throw new CommandError('BadValue', 'Shard key is empty')
    if (!isLenient) return new ShardKeyPattern(document, fields)
    // Copied because the cache shares it: a view would keep its buffer alive and change with it.
    return (lastLenient = new ShardKeyPattern(new Uint8Array(document), fields))
  }

  /** `x_1_y_hashed`, as the server names the index of this key. */
  get indexName(): string {
    return this.fields.map((field) => `${field.path}_${field.hashed ? 'hashed' : '1'}`).join('_')
  }

  get isId(): boolean {
    return this.fields.length === 1 && this.fields[0]!.path === '_id' && !this.isHashed
  }

  /** Missing fields count as null, unless `missingIsNull` is false. */
  extract(
    document: Uint8Array,
    options: { missingIsNull: boolean } = { missingIsNull: true },
  ): ExtractedKey | NoKeyReason {
    const values: RawValue[] = []
    for (const field of this.fields) {
      const value = extractField(document, field.parts)
      if (value === 'array') return 'array'
      if (value === undefined && !options.missingIsNull) return 'missing'
      values.push(field.hashed ? hashedKeyValue(value ?? nullValue) : (value ?? nullValue))
    }
    return { values, keyString: encodeKeyString(values) }
  }

  /** As {@link extract}; undefined: the document has no key. */
  keyStringOf(document: Uint8Array, options: { missingIsNull: boolean } = { missingIsNull: true }): string | undefined {
    if (this.fields.length > 1) {
      const key = this.extract(document, options)
      return typeof key === 'string' ? undefined : key.keyString
    }
    const { parts, hashed } = this.fields[0]!
    const value = extractField(document, parts)
    if (value === 'array' || (value === undefined && !options.missingIsNull)) return undefined
    return hashed ? hashedKeyString(value ?? nullValue) : encodeKeyString([value ?? nullValue])
  }

  /** Compares the bytes of each field. False if a document lacks one or has an array. */
  isSameIn(before: Uint8Array, after: Uint8Array): boolean {
    for (const { parts } of this.fields) {
      const a = extractField(before, parts)
      const b = extractField(after, parts)
      if (a === undefined || a === 'array' || b === undefined || b === 'array' || !a.isIdentical(b)) return false
    }
    return true
  }

  /** Undefined: a value is missing or an array. */
  keyFromValues(byPath: ValuesByPath): ExtractedKey | undefined {
    const values: RawValue[] = []
    for (const field of this.fields) {
      const value = byPath.get(field.path)
      if (value === undefined || value.type === BsonType.array || value.type === BsonType.undefined) return undefined
      values.push(field.hashed ? hashedKeyValue(value) : value)
    }
    return { values, keyString: encodeKeyString(values) }
  }

  /**
   * The bound is a document `{ path: value, … }` with its fields in any order. Undefined: fields
   * are missing or too many, or a value is an array.
   * @param start where the document begins
   */
  keyStringOfBound(bound: Uint8Array, start = 0): string | undefined {
    if (this.fields.length === 1) {
      const value = findField(bound, this.paths[0]!, start)
      if (value === undefined || value.type === BsonType.array) return undefined
      // The other bytes are the document's length, the field's type and name, and two zeros.
      const isOnly = readInt32(bound, start) === 7 + this.#firstNameLength + value.end - value.start
      return isOnly ? encodeKeyString([value]) : undefined
    }
    const values: RawValue[] = []
    for (const field of this.fields) {
      const value = findField(bound, field.path, start)
      if (value === undefined || value.type === BsonType.array) return undefined
      values.push(value)
    }
    let count = 0
    for (const it = new FieldIterator(bound, start); it.next();) count++
    return count === this.fields.length ? encodeKeyString(values) : undefined
  }

  boundDocument(values: readonly RawValue[]): Uint8Array {
    const writer = new DocumentWriter(64)
    this.fields.forEach((field, i) => writer.value(field.path, values[i]!))
    return writer.finish()
  }

  /** Whether the other pattern begins with this one. Server: isExtendedBy. */
  isExtendedBy(other: ShardKeyPattern): boolean {
    return this.fields.every(
      ({ path, hashed }, i) => other.fields[i]?.path === path && other.fields[i].hashed === hashed,
    )
  }

  /**
   * Completes a bound of a prefix of this key.
   * @param filler the value of the missing fields: MinKey, or MaxKey for the upper end of the key
   *   space
   */
  extendBound(bound: Uint8Array, filler: RawValue): Uint8Array {
    const given = fieldsOf(bound)
    return this.boundDocument(this.fields.map((_, i) => given[i]?.[1] ?? filler))
  }

  /**
   * The fields of the key that the document has, as they are, and `_id`. Null: `_id` alone. Server:
   * `CollectionMetadata::extractDocumentKey`.
   */
  documentKey(document: Uint8Array): Uint8Array | null {
    if (this.isId) return null
    const writer = new DocumentWriter(64)
    for (const { path, parts } of this.fields) {
      const value = extractField(document, parts)
      if (value !== undefined && value !== 'array') writer.value(path, value)
    }
    const id = findField(document, '_id')
    if (id !== undefined && !this.paths.includes('_id')) writer.value('_id', id)
    return writer.finish()
  }

  /** Server: isUniqueIndexCompatible. */
  allowsUniqueIndex(indexPattern: Uint8Array): boolean {
    const names = fieldsOf(indexPattern).map(([name]) => name)
    if (names[0] === '_id') return true
    return this.fields.every((field, i) => names[i] === field.path)
  }
}

/** Whether the integral part is 1. */
function isOne(value: RawValue): boolean {
  if (value.type !== BsonType.decimal128) return value.isNumber() && Math.trunc(value.asNumber()) === 1
  return compareValues(value, int32Value(1)) >= 0 && compareValues(value, int32Value(2)) < 0
}

export function isHashedElement(value: RawValue): boolean {
  return value.type === BsonType.string && value.asString() === 'hashed'
}

/** Server: isValidHashedValue. */
export function isHashedBound(value: RawValue): boolean {
  return value.type === BsonType.int64 || value.type === BsonType.minKey || value.type === BsonType.maxKey
}

function unsupported(pattern: Uint8Array, path: string, compoundHashed: boolean): CommandError {
  return new CommandError(
    'BadValue',
    compoundHashed
      ? `Shard key ${formatDocument(pattern)} can contain at most one 'hashed' field, and/or multiple numerical fields set to a value of 1. Failed to parse field ${path}`
      : `Field ${path} can only be 1 or 'hashed'`,
  )
}

/** Undefined: missing. 'array': an array is at the path or on the way to it. */
export function extractField(document: Uint8Array, parts: readonly string[]): RawValue | undefined | 'array' {
  let bytes = document
  let start = 0
  for (let i = 0; ; i++) {
    const value = findField(bytes, parts[i]!, start)
    if (value === undefined) return undefined
    if (value.type === BsonType.array) return 'array'
    if (i === parts.length - 1) return value
    if (value.type !== BsonType.object) return undefined
    bytes = value.bytes
    start = value.start
  }
}
