/**
 * Shard keys of measured collections are numbers or hashes, so that distances can be computed: a
 * position is three numbers, for the first three fields. Minus infinity is MinKey, and also each
 * field that the key does not have.
 */
import {
  doubleValue,
  int32Value,
  int64Value,
  keyStringNumbers,
  keyStringOfDocument,
  maxKeyValue,
  minKeyValue,
  type RawValue,
} from '@shardlab/bson'
import type { ShardKeyPattern } from '@shardlab/sharding'

export interface Position {
  readonly x: number
  readonly y: number
  readonly z: number
}

export interface Interval {
  readonly min: Position
  /** Exclusive. */
  readonly max: Position
}

export const everything: Interval = {
  min: { x: Number.NEGATIVE_INFINITY, y: Number.NEGATIVE_INFINITY, z: Number.NEGATIVE_INFINITY },
  max: { x: Number.POSITIVE_INFINITY, y: Number.POSITIVE_INFINITY, z: Number.POSITIVE_INFINITY },
}

const hashesBegin = -(2n ** 63n)
const hashesEnd = 2n ** 63n - 1n

export function comparePositions(a: Position, b: Position): number {
  if (a.x !== b.x) return a.x < b.x ? -1 : 1
  if (a.y !== b.y) return a.y < b.y ? -1 : 1
  return a.z === b.z ? 0 : a.z < b.z ? -1 : 1
}

export function positionOfKeyString(keyString: string): Position {
  const [x, y, z] = keyStringNumbers(keyString)
  return { x, y, z }
}

/** @param bound a document of the shard key's fields in order, hashed ones hashed */
export function positionOf(bound: Uint8Array): Position {
  return positionOfKeyString(keyStringOfDocument(bound))
}

export function boundAt(shardKey: ShardKeyPattern, position: Position): Uint8Array {
  return shardKey.boundDocument(valuesAt(shardKey, position))
}

/** Fields after the third are MinKey, or MaxKey at the upper end. */
export function valuesAt({ fields }: ShardKeyPattern, { x, y, z }: Position): RawValue[] {
  const rest = x === Number.POSITIVE_INFINITY ? maxKeyValue : minKeyValue
  const numbers = [x, y, z]
  return fields.map(({ hashed }, i) => (i < numbers.length ? valueOf(numbers[i]!, hashed) : rest))
}

/** Hashes have 64 bits and positions 53: hashes this close may have the same position. */
const hashesPerPosition = 2048

/**
 * Values inside a chunk. With a hashed first field the lower bound's position is rounded, and may
 * be below the bound.
 */
export function valuesWithin(shardKey: ShardKeyPattern, min: string, max: string): RawValue[] {
  const [from, to] = [positionOfKeyString(min), positionOfKeyString(max)]
  const isWide = shardKey.fields[0]!.hashed && Number.isFinite(from.x) && to.x - from.x > 2 * hashesPerPosition
  return valuesAt(shardKey, isWide ? { ...from, x: from.x + hashesPerPosition } : from)
}

function valueOf(n: number, hashed: boolean): RawValue {
  if (n === Number.NEGATIVE_INFINITY) return minKeyValue
  if (n === Number.POSITIVE_INFINITY) return maxKeyValue
  if (hashed) {
    const hash = BigInt(Math.floor(n))
    return int64Value(hash < hashesBegin ? hashesBegin : hash > hashesEnd ? hashesEnd : hash)
  }
  return Number.isInteger(n) && Math.abs(n) < 2 ** 31 ? int32Value(n) : doubleValue(n)
}
