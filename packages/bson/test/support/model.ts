/**
 * The oracle of the property tests: a slow builder of bytes and a slow comparison that share no
 * code with the package.
 */
import { Decimal128 } from 'bson'
import { BsonType, RawValue } from '@shardlab/bson'

export type Model =
  | { kind: 'minKey' | 'maxKey' | 'null' | 'undefined' }
  | { kind: 'int32' | 'double'; value: number }
  | { kind: 'int64' | 'date' | 'timestamp'; value: bigint }
  | { kind: 'decimal128'; text: string }
  | { kind: 'string' | 'symbol' | 'code'; text: string }
  | { kind: 'object'; fields: readonly (readonly [string, Model])[] }
  | { kind: 'array'; elements: readonly Model[] }
  | { kind: 'binary'; subtype: number; bytes: Uint8Array }
  | { kind: 'objectId'; bytes: Uint8Array }
  | { kind: 'bool'; value: boolean }
  | { kind: 'regex'; pattern: string; flags: string }
  | { kind: 'dbPointer'; ns: string; id: Uint8Array }
  | { kind: 'codeWithScope'; text: string; fields: readonly (readonly [string, Model])[] }

export function payload(model: Model): Buffer {
  switch (model.kind) {
    case 'minKey':
    case 'maxKey':
    case 'null':
    case 'undefined':
      return Buffer.alloc(0)
    case 'int32': {
      const bytes = Buffer.alloc(4)
      bytes.writeInt32LE(model.value)
      return bytes
    }
    case 'double': {
      const bytes = Buffer.alloc(8)
      bytes.writeDoubleLE(model.value)
      return bytes
    }
    case 'int64':
    case 'date': {
      const bytes = Buffer.alloc(8)
      bytes.writeBigInt64LE(model.value)
      return bytes
    }
    case 'timestamp': {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(model.value)
      return bytes
    }
    case 'decimal128':
      return Buffer.from(Decimal128.fromString(model.text).bytes)
    case 'string':
    case 'symbol':
    case 'code':
      return lengthAndText(model.text)
    case 'object':
      return documentBytes(model.fields)
    case 'array':
      return documentBytes(model.elements.map((element, i) => [String(i), element]))
    case 'binary':
      // The old subtype repeats the length inside.
      return model.subtype === 2
        ? Buffer.concat([int32(model.bytes.length + 4), Buffer.from([2]), int32(model.bytes.length), model.bytes])
        : Buffer.concat([int32(model.bytes.length), Buffer.from([model.subtype]), model.bytes])
    case 'objectId':
      return Buffer.from(model.bytes)
    case 'bool':
      return Buffer.from([model.value ? 1 : 0])
    case 'regex':
      return Buffer.from(`${model.pattern}\0${model.flags}\0`)
    case 'dbPointer':
      return Buffer.concat([lengthAndText(model.ns), model.id])
    case 'codeWithScope': {
      const rest = Buffer.concat([lengthAndText(model.text), documentBytes(model.fields)])
      return Buffer.concat([int32(rest.length + 4), rest])
    }
  }
}

export function documentBytes(fields: readonly (readonly [string, Model])[]): Buffer {
  const parts = fields.flatMap(([name, value]) => [
    Buffer.from([BsonType[value.kind]]),
    Buffer.from(`${name}\0`),
    payload(value),
  ])
  const body = Buffer.concat(parts)
  return Buffer.concat([int32(body.length + 5), body, Buffer.from([0])])
}

export function rawValue(model: Model): RawValue {
  // Not at offset 0, as in real documents.
  const bytes = payload(model)
  return new RawValue(
    BsonType[model.kind],
    Buffer.concat([Buffer.from([0xaa, 0xbb, 0xcc]), bytes, Buffer.from([0xdd])]),
    3,
    3 + bytes.length,
  )
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.from(`${text}\0`)
  return Buffer.concat([int32(bytes.length), bytes])
}

const order: readonly (readonly Model['kind'][])[] = [
  ['minKey'],
  ['undefined'],
  ['null'],
  ['int32', 'int64', 'double', 'decimal128'],
  ['string', 'symbol'],
  ['object'],
  ['array'],
  ['binary'],
  ['objectId'],
  ['bool'],
  ['date'],
  ['timestamp'],
  ['regex'],
  ['dbPointer'],
  ['code'],
  ['codeWithScope'],
  ['maxKey'],
]

function rank(model: Model): number {
  return order.findIndex((kinds) => kinds.includes(model.kind))
}

function three(a: number | bigint | boolean, b: number | bigint | boolean): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function slowCompare(a: Model, b: Model): number {
  if (rank(a) !== rank(b)) return three(rank(a), rank(b))
  if (rank(a) === 3) return compareNumberModels(a, b)
  if (
    (a.kind === 'string' || a.kind === 'symbol' || a.kind === 'code') &&
    (b.kind === 'string' || b.kind === 'symbol' || b.kind === 'code')
  )
    return compareText(a.text, b.text)
  if (a.kind === 'object' && b.kind === 'object') return compareFields(a.fields, b.fields)
  if (a.kind === 'array' && b.kind === 'array')
    return compareFields(
      a.elements.map((e) => ['', e]),
      b.elements.map((e) => ['', e]),
    )
  if (a.kind === 'binary' && b.kind === 'binary') {
    const left = payload(a)
    const right = payload(b)
    return three(left.length, right.length) || three(a.subtype, b.subtype) || Buffer.compare(left, right)
  }
  if (a.kind === 'objectId' && b.kind === 'objectId') return Buffer.compare(a.bytes, b.bytes)
  if (
    (a.kind === 'bool' && b.kind === 'bool') ||
    (a.kind === 'date' && b.kind === 'date') ||
    (a.kind === 'timestamp' && b.kind === 'timestamp')
  )
    return three(a.value, (b as typeof a).value)
  if (a.kind === 'regex' && b.kind === 'regex')
    return compareText(a.pattern, b.pattern) || compareText(a.flags, b.flags)
  if (a.kind === 'dbPointer' && b.kind === 'dbPointer')
    return (
      three(Buffer.byteLength(a.ns), Buffer.byteLength(b.ns)) || compareText(a.ns, b.ns) || Buffer.compare(a.id, b.id)
    )
  if (a.kind === 'codeWithScope' && b.kind === 'codeWithScope')
    return compareText(a.text, b.text) || compareFields(a.fields, b.fields)
  return 0
}

function compareText(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function compareFields(a: readonly (readonly [string, Model])[], b: readonly (readonly [string, Model])[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [aName, aValue] = a[i]!
    const [bName, bValue] = b[i]!
    const result = three(rank(aValue), rank(bValue)) || compareText(aName, bName) || slowCompare(aValue, bValue)
    if (result !== 0) return result
  }
  return three(a.length, b.length)
}

/** Exact; a string for NaN and the infinities. */
function fraction(model: Model): 'NaN' | 'Infinity' | '-Infinity' | readonly [numerator: bigint, denominator: bigint] {
  if (model.kind === 'int32') return [BigInt(model.value), 1n]
  if (model.kind === 'int64') return [model.value, 1n]
  if (model.kind === 'double') {
    if (!Number.isFinite(model.value)) return String(model.value) as 'NaN'
    let denominator = 1n
    let value = model.value
    while (!Number.isInteger(value)) {
      value *= 2
      denominator *= 2n
    }
    return [BigInt(value), denominator]
  }
  if (model.kind !== 'decimal128') throw new Error(model.kind)
  const text = new Decimal128(Decimal128.fromString(model.text).bytes).toString()
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return text
  const [, sign, whole, part, exponent] = /^(-?)(\d+)(?:\.(\d+))?(?:E([+-]\d+))?$/.exec(text)!
  const digits = BigInt(`${whole}${part ?? ''}`) * (sign === '-' ? -1n : 1n)
  const power = Number(exponent ?? 0) - (part ?? '').length
  return power >= 0 ? [digits * 10n ** BigInt(power), 1n] : [digits, 10n ** BigInt(-power)]
}

function compareNumberModels(a: Model, b: Model): number {
  const left = fraction(a)
  const right = fraction(b)
  const place = (value: typeof left): number =>
    value === 'NaN' ? 0 : value === '-Infinity' ? 1 : value === 'Infinity' ? 3 : 2
  if (typeof left === 'string' || typeof right === 'string') return three(place(left), place(right))
  return three(left[0] * right[1], right[0] * left[1])
}
