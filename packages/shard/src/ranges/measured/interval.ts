import { keysOf, type KeyRange } from '../key-range.js'
import { positionOfKeyString } from './position.js'
import type { Interval } from './range-sizes.js'

export function intervalOf(range: KeyRange): Interval {
  const [low, high] = keysOf(range)
  return { min: positionOfKeyString(low), max: positionOfKeyString(high) }
}
