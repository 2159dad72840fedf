/** Compares BSON values without a BSON library: `_bsontype` is the same in every version. */

/**
 * Whether the values are certainly equal; numbers compare by value, whatever their type. False for
 * values that only a collation treats as equal, and for rare types: callers then leave the decision
 * to the server.
 */
export function sameValue(a: unknown, b: unknown): boolean {
  const left = plain(a)
  const right = plain(b)
  if (typeof left !== 'object' || left === null || typeof right !== 'object' || right === null) {
    return left === right || (Number.isNaN(left) && Number.isNaN(right))
  }
  if (left instanceof Date || right instanceof Date) {
    return left instanceof Date && right instanceof Date && left.getTime() === right.getTime()
  }
  if (left instanceof Uint8Array || right instanceof Uint8Array) {
    return (
      left instanceof Uint8Array &&
      right instanceof Uint8Array &&
      left.length === right.length &&
      left.every((byte, i) => byte === right[i])
    )
  }
  if (Array.isArray(left) !== Array.isArray(right)) return false
  const leftFields = Object.entries(left)
  const rightFields = Object.entries(right)
  // Documents with the same fields in another order are different values.
  return (
    leftFields.length === rightFields.length &&
    leftFields.every(([name, value], i) => name === rightFields[i]![0] && sameValue(value, rightFields[i]![1]))
  )
}

interface BsonValue {
  readonly _bsontype: string
  toString(): string
  valueOf(): unknown
}

/** A value of a BSON class as a plain value that differs if the value differs. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('_bsontype' in value)) return value
  const typed = value as BsonValue
  switch (typed._bsontype) {
    case 'Int32':
    case 'Double':
      return Number(typed.valueOf())
    case 'Long': {
      const number = Number(typed.toString())
      return Number.isSafeInteger(number) ? number : ['Long', typed.toString()]
    }
    case 'ObjectId':
    case 'Decimal128':
    case 'Timestamp':
      return [typed._bsontype, typed.toString()]
    case 'Binary':
    case 'UUID': {
      const { sub_type: subType, buffer } = typed as unknown as {
        sub_type: number
        buffer: Uint8Array
        position: number
      }
      const length = (typed as unknown as { position: number }).position
      return ['Binary', subType, Uint8Array.prototype.slice.call(buffer, 0, length)]
    }
    case 'MinKey':
    case 'MaxKey':
      return [typed._bsontype]
    default:
      return Object.entries(typed)
  }
}

/** Neither an array nor a value of a BSON class. */
export function isDocument(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Date) &&
    !(value instanceof RegExp) &&
    !(value instanceof Uint8Array) &&
    !('_bsontype' in value)
  )
}
