export const BsonType = {
  double: 0x01,
  string: 0x02,
  object: 0x03,
  array: 0x04,
  binary: 0x05,
  undefined: 0x06,
  objectId: 0x07,
  bool: 0x08,
  date: 0x09,
  null: 0x0a,
  regex: 0x0b,
  dbPointer: 0x0c,
  code: 0x0d,
  symbol: 0x0e,
  codeWithScope: 0x0f,
  int32: 0x10,
  timestamp: 0x11,
  int64: 0x12,
  decimal128: 0x13,
  minKey: 0xff,
  maxKey: 0x7f,
} as const

const names: Readonly<Record<number, string>> = {
  0x01: 'double',
  0x02: 'string',
  0x03: 'object',
  0x04: 'array',
  0x05: 'binData',
  0x06: 'undefined',
  0x07: 'objectId',
  0x08: 'bool',
  0x09: 'date',
  0x0a: 'null',
  0x0b: 'regex',
  0x0c: 'dbPointer',
  0x0d: 'javascript',
  0x0e: 'symbol',
  0x0f: 'javascriptWithScope',
  0x10: 'int',
  0x11: 'timestamp',
  0x12: 'long',
  0x13: 'decimal',
  0xff: 'minKey',
  0x7f: 'maxKey',
}

/** As in `$type` and the server's error messages; `missing` for an absent value. */
export function typeName(type: number | undefined): string {
  return type === undefined ? 'missing' : (names[type] ?? `unknown type ${type}`)
}

export function isBsonType(type: number): boolean {
  return names[type] !== undefined
}

export function isNumberType(type: number): boolean {
  return type === BsonType.int32 || type === BsonType.double || type === BsonType.int64 || type === BsonType.decimal128
}

/**
 * Types of equal rank compare by value. A missing value has rank 0, like undefined. Server:
 * `canonicalizeBSONType` in bsontypes.h.
 */
export function canonicalType(type: number): number {
  switch (type) {
    case BsonType.minKey:
      return -1
    case BsonType.undefined:
      return 0
    case BsonType.null:
      return 5
    case BsonType.double:
    case BsonType.int32:
    case BsonType.int64:
    case BsonType.decimal128:
      return 10
    case BsonType.string:
    case BsonType.symbol:
      return 15
    case BsonType.object:
      return 20
    case BsonType.array:
      return 25
    case BsonType.binary:
      return 30
    case BsonType.objectId:
      return 35
    case BsonType.bool:
      return 40
    case BsonType.date:
      return 45
    case BsonType.timestamp:
      return 47
    case BsonType.regex:
      return 50
    case BsonType.dbPointer:
      return 55
    case BsonType.code:
      return 60
    case BsonType.codeWithScope:
      return 65
    case BsonType.maxKey:
      return 127
    default:
      throw new Error(`not a BSON type: ${type}`)
  }
}
