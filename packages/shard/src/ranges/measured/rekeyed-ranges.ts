/** Ranges of a collection whose shard key changes. */
import type { Random, SizedRange } from '@shardlab/actor'
import { encodeKeyString } from '@shardlab/bson'
import type { CollectionPlacement, ShardKeyPattern } from '@shardlab/sharding'
import { sampleWeightsEnd, type SampledKeys } from '../collection-ranges.js'
import { MeasuredKeys } from './measured-keys.js'
import type { MeasuredOptions } from './measured-options.js'
import { boundAt, everything, positionOfKeyString, valuesAt, type Position } from './position.js'
import { RangeSizes } from './range-sizes.js'
import { cutRange, documentsBelow, startOf } from './sized-range.js'

/** `checkCopied` has refused collections without the function. */
export function rekeyOf({ rekey }: MeasuredOptions): NonNullable<MeasuredOptions['rekey']> {
  if (rekey === undefined) throw new Error('this cluster cannot compute positions under another key')
  return rekey
}

/** Without those of orphans. */
export function ownedRanges(sizes: RangeSizes, { table }: CollectionPlacement, shard: string): SizedRange[] {
  const owned: SizedRange[] = []
  let begun: Position | null = null
  const end = (max: Position): void => {
    if (begun !== null) owned.push(...sizes.within({ min: begun, max }))
    begun = null
  }
  for (const [min, owner] of table.runs()) {
    const at = positionOfKeyString(min)
    end(at)
    if (owner === shard) begun = at
  }
  end(everything.max)
  return owned
}

export function rangesByOwner(
  ranges: readonly SizedRange[],
  { table, shardKey }: CollectionPlacement,
): Map<string, SizedRange[]> {
  const byOwner = new Map<string, SizedRange[]>()
  const give = (shard: string, range: SizedRange): void => {
    const known = byOwner.get(shard)
    if (known === undefined) byOwner.set(shard, [range])
    else known.push(range)
  }
  for (const range of ranges) {
    let rest = range
    for (const { max, shard } of table.chunks(encodeKeyString(valuesAt(shardKey, startOf(range))))) {
      const end = positionOfKeyString(max)
      if (max === table.globalMax || documentsBelow(rest, end) === rest.documents) {
        give(shard, rest)
        break
      }
      const parts = cutRange(rest, end)
      if (parts === null) continue
      give(shard, parts[0])
      rest = parts[1]
    }
  }
  return byOwner
}

/** Draws the lowest of the weights that as many documents would have. */
export function sampleMeasuredKeys(
  ranges: readonly SizedRange[],
  shardKey: ShardKeyPattern,
  size: number,
  random: Random,
): SampledKeys {
  const sorted = new RangeSizes()
  sorted.put(ranges)
  const documents = new MeasuredKeys([...sorted.ranges()], shardKey.fields.length)
  const { count } = documents
  const [keys, weights]: [Uint8Array[], number[]] = [[], []]
  let share = 0
  for (let n = 0; n < Math.min(size, count); n++) {
    // The next one of the order statistics of uniform draws.
    share += (1 - share) * (1 - (1 - random.fraction()) ** (1 / (count - n)))
    weights.push(Math.floor(share * sampleWeightsEnd))
    keys.push(boundAt(shardKey, documents.at(random.below(count))))
  }
  return { keys, weights }
}
