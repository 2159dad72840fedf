import { keysOf, type KeyRange } from '../key-range.js'
import { positionOfKeyString, type Interval } from './position.js'

export function intervalOf(range: KeyRange): Interval {
  const [low, high] = keysOf(range)
  return { min: positionOfKeyString(low), max: positionOfKeyString(high) }
}
