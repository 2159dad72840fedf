/** What the two policies measure: chunks up to 6.0.2, bytes from then on. Server: balancer_policy.cpp of 4.4 to 6.0 and of 7.0. */
import { noZone, type Distribution, type ShardStatistics } from './distribution.js'

/** A pair of shards that a zone's chunks lie unevenly on, or why there is none. */
export type Imbalance =
  | { readonly from: string; readonly to: string; readonly because: string }
  | { readonly from: null; readonly to: null; readonly because: string }

export interface Load {
  /** By which receivers are compared: the least one gets the chunk. */
  of(shard: string): number
  /** For people: `5 chunks`. */
  text(shard: string): string
  /** @param receiver the least loaded shard that can take chunks of this zone, or null */
  imbalance(zone: string, available: readonly ShardStatistics[], receiver: string | null): Imbalance
}

const none = (because: string): Imbalance => ({ from: null, to: null, because })

/** The shard with the highest value, the first one of equals; null when none is above zero. */
function highest(shards: readonly ShardStatistics[], value: (shard: string) => number): string | null {
  let worst: string | null = null
  for (const { id } of shards) if (value(id) > (worst === null ? 0 : value(worst))) worst = id
  return worst
}

const zoneName = (zone: string) => (zone === noZone ? 'outside of all zones' : `in zone ${zone}`)

/** Shards that can hold chunks of this zone; all of them for chunks in no zone. */
export function shardsOf(zone: string, shards: readonly ShardStatistics[]): readonly ShardStatistics[] {
  return zone === noZone ? shards : shards.filter(({ zones }) => zones.includes(zone))
}

/** Least deviation from the ideal number of chunks at which one is moved. */
const imbalanceThreshold = 1

/** Every shard is to have the same number of chunks, zone by zone. */
export function chunkCountLoad(shards: readonly ShardStatistics[], distribution: Distribution): Load {
  const countOf = (shard: string) => distribution.chunksOn(shard).length
  return {
    of: countOf,
    text: (shard) => `${countOf(shard)} chunks`,
    imbalance(zone, available, receiver) {
      const members = shardsOf(zone, shards).length
      if (members === 0) return none(`no shard carries zone ${zone}`)
      // Chunks in no zone are compared with all chunks of the collection, as on the server.
      const total = zone === noZone ? distribution.chunkCount : distribution.countIn(zone)
      const ideal = Math.round(Math.fround(total / Math.fround(members)))
      const inZone = (shard: string) => distribution.chunksOn(shard, zone).length
      const from = highest(available, inZone)
      if (from === null) return none(`no available shard has chunks ${zoneName(zone)}`)
      if (inZone(from) - ideal < imbalanceThreshold) return none(`no shard has more than the ideal ${ideal} chunks ${zoneName(zone)}`)
      if (receiver === null) return none(`no available shard can take chunks ${zoneName(zone)}`)
      if (inZone(receiver) >= ideal)
        return none(`${receiver} has ${inZone(receiver)} chunks ${zoneName(zone)} already, and the ideal is ${ideal}`)
      return {
        from,
        to: receiver,
        because: `${from} has ${inZone(from)} chunks ${zoneName(zone)}, ${receiver} ${inZone(receiver)}, and the ideal is ${ideal}`,
      }
    },
  }
}

/** How much larger than a chunk the difference of two shards must be. */
const sizeThresholdChunks = 3

export interface DataSizes {
  /** Bytes of the collection's documents by shard; shards that did not answer are missing. */
  readonly bytes: ReadonlyMap<string, number>
  readonly maxChunkSizeBytes: number
}

/** Every shard is to have about the same number of bytes, zone by zone. */
export function dataSizeLoad(shards: readonly ShardStatistics[], { bytes, maxChunkSizeBytes }: DataSizes): Load {
  const sizeOf = (shard: string) => bytes.get(shard) ?? 0
  return {
    of: (shard) => bytes.get(shard) ?? Number.POSITIVE_INFINITY,
    text: (shard) => `${sizeOf(shard)} bytes`,
    imbalance(zone, available, receiver) {
      const members = shardsOf(zone, shards).filter(({ id }) => bytes.has(id))
      if (members.length === 0) return none(`no shard carries zone ${zone}`)
      const total = members.reduce((sum, { id }) => sum + sizeOf(id), 0)
      if (total === 0) return none(`there is no data ${zoneName(zone)}`)
      const ideal = Math.trunc(total / members.length)
      const from = highest(available, sizeOf)
      if (from === null) return none(`no available shard has data ${zoneName(zone)}`)
      if (receiver === null) return none(`no available shard can take chunks ${zoneName(zone)}`)
      if (from === receiver) return none(`${from} has both the most and the least data ${zoneName(zone)}`)
      if (sizeOf(from) <= ideal) return none(`no shard has more than the ideal ${ideal} bytes`)
      if (sizeOf(receiver) >= ideal) return none(`${receiver} has ${sizeOf(receiver)} bytes already, and the ideal is ${ideal}`)
      const difference = sizeOf(from) - sizeOf(receiver)
      const threshold = sizeThresholdChunks * maxChunkSizeBytes
      if (difference < threshold)
        return none(
          `${from} has ${difference} bytes more than ${receiver}, less than ${sizeThresholdChunks} chunks of ${maxChunkSizeBytes} bytes`,
        )
      return {
        from,
        to: receiver,
        because: `${from} has ${sizeOf(from)} bytes, ${receiver} ${sizeOf(receiver)}: ${difference} more, at least ${sizeThresholdChunks} chunks of ${maxChunkSizeBytes} bytes`,
      }
    },
  }
}
