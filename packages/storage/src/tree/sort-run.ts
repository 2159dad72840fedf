import type { KeyRun } from './insert-run.js'

/** Bytes of each key that the first sort compares. */
const sortedBytes = 5

/**
 * Ascending and stable. First sorts numbers that combine the bytes after the common prefix with the
 * key's position, at the speed of memory. Then compares the few keys that remain out of order.
 */
export function sortedRun(keys: readonly string[], values: readonly number[]): KeyRun {
  const count = keys.length
  if (isAscending(keys)) return { keys, values }
  const positions = 2 ** Math.ceil(Math.log2(count))
  const from = commonLength(keys)
  const shift = 2 ** Math.max(0, sortedBytes * 8 + Math.log2(positions) - 53)
  const order = new Float64Array(count)
  for (let i = 0; i < count; i++) order[i] = Math.floor(bytesFrom(keys[i]!, from) / shift) * positions + i
  order.sort()
  const sorted = { keys: new Array<string>(count), values: new Array<number>(count) }
  for (let i = 0; i < count; i++) {
    const at = order[i]! % positions
    sorted.keys[i] = keys[at]!
    sorted.values[i] = values[at]!
  }
  return insertionSort(sorted.keys, sorted.values) ? sorted : byComparison(keys, values)
}

function isAscending(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false
  return true
}

function commonLength(keys: readonly string[]): number {
  const first = keys[0]!
  let common = first.length
  for (const key of keys) {
    let same = 0
    while (same < common && key.charCodeAt(same) === first.charCodeAt(same)) same++
    common = same
  }
  return common
}

function bytesFrom(key: string, from: number): number {
  let number = 0
  for (let i = from; i < from + sortedBytes; i++) number = number * 256 + (i < key.length ? key.charCodeAt(i) : 0)
  return number
}

/** @returns false: too many keys had to move, and their order is undefined now */
function insertionSort(keys: string[], values: number[]): boolean {
  let left = keys.length
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!
    if (keys[i - 1]! <= key) continue
    const value = values[i]!
    let at = i
    for (; at > 0 && keys[at - 1]! > key; at--) {
      if (left-- === 0) return false
      keys[at] = keys[at - 1]!
      values[at] = values[at - 1]!
    }
    keys[at] = key
    values[at] = value
  }
  return true
}

function byComparison(keys: readonly string[], values: readonly number[]): KeyRun {
  const order = keys.map((_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b))
  return { keys: order.map((i) => keys[i]!), values: order.map((i) => values[i]!) }
}
