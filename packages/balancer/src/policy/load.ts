/**
 * The measure of each policy: chunks until 6.0.2, bytes since 6.0.3. Server: balancer_policy.cpp of
 * 4.4 to 6.0 and of 7.0.
 */
import { counted } from '@shardlab/quantities'
import { noZone, type Distribution, type ShardStatistics } from './distribution.js'

/** Two shards between which a zone's chunks are uneven, or why all are even. */
export type Imbalance =
  | { readonly from: string; readonly to: string; readonly because: string }
  | { readonly from: null; readonly to: null; readonly because: string }

export interface Load {
  /** Compares recipients: the smallest gets the chunk. */
  of(shard: string): number
  /** For people: `5 chunks`. */
  text(shard: string): string
  /** Compares donors of a zone's chunks: the largest gives one. */
  inZone(zone: string, shard: string): number
  /**
   * @param donor the available shard with the most of this zone; null: no shard has chunks of it
   * @param recipient the least loaded shard that can take chunks of this zone; null: none
   */
  imbalance(zone: string, donor: string | null, recipient: string | null): Imbalance
}

const none = (because: string): Imbalance => ({ from: null, to: null, because })

export const zoneName = (zone: string) => (zone === noZone ? 'outside of all zones' : `in zone ${zone}`)

/** Largest value divided by the mean, 1 if all are 0: the imbalance of all reports. */
export function largestToMean(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return values.length === 0 || mean === 0 ? 1 : Math.max(...values) / mean
}

/** All shards for chunks in no zone. */
export function shardsOf(zone: string, shards: readonly ShardStatistics[]): readonly ShardStatistics[] {
  return zone === noZone ? shards : shards.filter(({ zones }) => zones.includes(zone))
}

/** Smallest deviation from the ideal number of chunks that moves one. */
const imbalanceThreshold = 1

export function chunkCountLoad(shards: readonly ShardStatistics[], distribution: Distribution): Load {
  const countOf = (shard: string) => distribution.countOn(shard)
  const inZone = (zone: string, shard: string) => distribution.countOn(shard, zone)
  const ideals = memoized((zone) => {
    const members = shardsOf(zone, shards).length
    // As on the server, chunks in no zone are compared with all chunks of the collection.
    const total = zone === noZone ? distribution.chunkCount : distribution.countIn(zone)
    return members === 0 ? null : Math.round(Math.fround(total / Math.fround(members)))
  })
  return {
    of: countOf,
    text: (shard) => counted(countOf(shard), 'chunk'),
    inZone,
    imbalance(zone, from, recipient) {
      const ideal = ideals(zone)
      if (ideal === null) return none(`no shard carries zone ${zone}`)
      if (from === null) return none(`no available shard has chunks ${zoneName(zone)}`)
      const most = inZone(zone, from)
      if (most - ideal < imbalanceThreshold)
        return none(`no shard has more than the ideal ${counted(ideal, 'chunk')} ${zoneName(zone)}`)
      if (recipient === null) return none(`no available shard can take chunks ${zoneName(zone)}`)
      const least = inZone(zone, recipient)
      if (least >= ideal)
        return none(`${recipient} has ${counted(least, 'chunk')} ${zoneName(zone)} already, and the ideal is ${ideal}`)
      return {
        from,
        to: recipient,
        because: `${from} has ${counted(most, 'chunk')} ${zoneName(zone)}, ${recipient} ${least}, and the ideal is ${ideal}`,
      }
    },
  }
}

function memoized<T>(find: (zone: string) => T): (zone: string) => T {
  const found = new Map<string, T>()
  return (zone) => {
    if (!found.has(zone)) found.set(zone, find(zone))
    return found.get(zone)!
  }
}

/** Smallest difference between two shards that triggers a move, in multiples of the chunk size. */
export const sizeThresholdChunks = 3

export interface DataSizes {
  /** By shard; shards that did not reply are missing. */
  readonly bytes: ReadonlyMap<string, number>
  readonly maxChunkSizeBytes: number
}

export function dataSizeLoad(shards: readonly ShardStatistics[], { bytes, maxChunkSizeBytes }: DataSizes): Load {
  const sizeOf = (shard: string) => bytes.get(shard) ?? 0
  const totals = memoized((zone) => {
    const members = shardsOf(zone, shards).filter(({ id }) => bytes.has(id))
    return { members: members.length, bytes: members.reduce((sum, { id }) => sum + sizeOf(id), 0) }
  })
  return {
    of: (shard) => bytes.get(shard) ?? Number.POSITIVE_INFINITY,
    text: (shard) => `${sizeOf(shard)} bytes`,
    inZone: (_zone, shard) => sizeOf(shard),
    imbalance(zone, from, recipient) {
      const total = totals(zone)
      if (total.members === 0) return none(`no shard carries zone ${zone}`)
      if (total.bytes === 0) return none(`there is no data ${zoneName(zone)}`)
      const ideal = Math.trunc(total.bytes / total.members)
      if (from === null) return none(`no available shard has data ${zoneName(zone)}`)
      if (recipient === null) return none(`no available shard can take chunks ${zoneName(zone)}`)
      if (from === recipient) return none(`no available shard has less data than ${from} ${zoneName(zone)}`)
      if (sizeOf(from) <= ideal) return none(`no shard has more than the ideal ${ideal} bytes`)
      if (sizeOf(recipient) >= ideal)
        return none(`${recipient} has ${sizeOf(recipient)} bytes already, and the ideal is ${ideal}`)
      const difference = sizeOf(from) - sizeOf(recipient)
      const threshold = sizeThresholdChunks * maxChunkSizeBytes
      if (difference < threshold)
        return none(
          `${from} has ${difference} bytes more than ${recipient}, less than ${sizeThresholdChunks} chunks of ${maxChunkSizeBytes} bytes`,
        )
      return {
        from,
        to: recipient,
        because: `${from} has ${sizeOf(from)} bytes, ${recipient} ${sizeOf(recipient)} bytes: ${difference} bytes more, at least ${sizeThresholdChunks} chunks of ${maxChunkSizeBytes} bytes`,
      }
    },
  }
}
