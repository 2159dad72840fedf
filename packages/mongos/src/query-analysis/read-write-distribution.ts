/**
 * Divides the key space into ranges of about equally many documents, and targets each sampled query
 * at them. Server: calculateReadWriteDistributionMetrics, SamplingBasedSplitPolicy.
 */
import { uuidV4 } from '@shardlab/actor'
import { CommandError, compareBytes, DocumentWriter, elementsOf, FieldIterator, findField } from '@shardlab/bson'
import { raise } from '../remote/command-reply.js'
import type { Analysis } from './analysis.js'

/** @throws CommandError 4952606 for too few distinct values, 2 for an array in the key */
export async function writeReadWriteDistribution(writer: DocumentWriter, analysis: Analysis): Promise<void> {
  const points = await splitPoints(analysis)
  const { invocation, shards, first, about } = analysis
  const { host, operation } = invocation
  const analyzeShardKeyId = uuidV4(host.context.random)
  const replies = await host.context.all(
    shards.map((shard) =>
      host.remote.request(
        shard,
        'shard.distribute-queries',
        { ...about(shard), splitPoints: points, analyzeShardKeyId: shard === first ? analyzeShardKeyId : null },
        operation,
      ),
    ),
  )
  for (const { error } of replies) raise(error)
  const parts = (name: string) => replies.map(({ counters }) => findField(counters!, name)!.slice())
  writeDistribution(writer.startDocument('readDistribution'), parts('readDistribution'), 'Reads').end()
  const writes = new Counters(parts('writeDistribution'))
  if (writes.total === 0 && new Counters(parts('readDistribution')).total === 0)
    host.context.log('info', `no sampled queries of ${analysis.ns}: the distributions are empty`, {
      hint: `run configureQueryAnalyzer with mode "full", then the application's queries; shards write samples every 90 seconds`,
    })
  writeDistribution(writer.startDocument('writeDistribution'), writes.parts, 'Writes')
  if (writes.total > 0) {
    writer
      .double('percentageOfShardKeyUpdates', writes.percentage('numShardKeyUpdates'))
      .double('percentageOfSingleWritesWithoutShardKey', writes.percentage('numSingleWritesWithoutShardKey'))
      .double('percentageOfMultiWritesWithoutShardKey', writes.percentage('numMultiWritesWithoutShardKey'))
  }
  writer.end()
}

function writeDistribution(
  writer: DocumentWriter,
  parts: readonly Uint8Array[],
  kind: 'Reads' | 'Writes',
): DocumentWriter {
  const counters = new Counters(parts)
  writer.startDocument('sampleSize').int64('total', counters.total)
  for (const [command, count] of counters.commands) writer.int64(command, count)
  writer.end()
  if (counters.total === 0) return writer
  writer
    .double(`percentageOfSingleShard${kind}`, counters.percentage('numSingleShard'))
    .double(`percentageOfMultiShard${kind}`, counters.percentage('numMultiShard'))
    .double(`percentageOfScatterGather${kind}`, counters.percentage('numScatterGather'))
    .startArray(`num${kind}ByRange`)
  counters.byRange.forEach((count, i) => writer.int64(String(i), count))
  return writer.end()
}

class Counters {
  readonly parts: readonly Uint8Array[]
  readonly commands: readonly (readonly [name: string, count: number])[]
  readonly total: number

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts
    const sums = new Map<string, number>()
    for (const part of parts) {
      const sampleSize = findField(part, 'sampleSize')!
      for (const it = new FieldIterator(sampleSize.bytes, sampleSize.start); it.next();)
        sums.set(it.name(), (sums.get(it.name()) ?? 0) + it.value().asNumber())
    }
    this.commands = [...sums]
    this.total = this.commands.reduce((sum, [, count]) => sum + count, 0)
  }

  get byRange(): readonly number[] {
    const sums: number[] = []
    for (const part of this.parts)
      elementsOf(findField(part, 'numByRange')!).forEach((count, i) => (sums[i] = (sums[i] ?? 0) + count.asNumber()))
    return sums
  }

  /** Rounded to ten places, as on the server. */
  percentage(name: string): number {
    const part = this.parts.reduce((sum, each) => sum + findField(each, name)!.asNumber(), 0)
    const factor = 10 ** 10
    return Math.ceil((part / this.total) * 100 * factor) / factor
  }
}

/**
 * Ascending shard keys that divide the collection into ranges of about equally many documents:
 * every `samplesPerRange`-th key of a random sample, without duplicates.
 */
async function splitPoints(analysis: Analysis): Promise<Uint8Array[]> {
  const { shardKey, parameters } = analysis
  const { rangeCount, samplesPerRange } = parameters
  const sample = await sampledKeys(analysis, rangeCount * samplesPerRange)
  const ordered = sample
    .map((key) => ({ key, keyString: Buffer.from(shardKey.keyStringOfBound(key)!, 'latin1') }))
    .sort((a, b) => compareBytes(a.keyString, 0, a.keyString.length, b.keyString, 0, b.keyString.length))
  const points: Uint8Array[] = []
  let last: Buffer | null = null
  for (let at = 0; at < ordered.length && points.length < rangeCount - 1; at += samplesPerRange) {
    // The last document of the sample ends the last range, even if the range is short of documents.
    const { key, keyString } = ordered[Math.min(at + samplesPerRange - 1, ordered.length - 1)]!
    if (last !== null && keyString.equals(last)) continue
    points.push(key)
    last = keyString
  }
  if (points.length < rangeCount - 1) {
    throw new CommandError(
      4952606,
      `Failed to find split points that partition the data into ${rangeCount} chunks with roughly equal number of documents using the shard ` +
        'key being analyzed :: caused by :: The shard key provided does not have enough cardinality to make the required number of chunks ' +
        `of ${rangeCount}, it can only make ${points.length + 1} chunks`,
    )
  }
  return points
}

async function sampledKeys({ invocation, shards, about }: Analysis, size: number): Promise<Uint8Array[]> {
  const { host, operation } = invocation
  const replies = await host.context.all(
    shards.map((shard) => host.remote.request(shard, 'shard.sample-keys', { ...about(shard), size }, operation)),
  )
  const drawn: { key: Uint8Array; draw: number }[] = []
  for (const { keys, draws, error } of replies) {
    raise(error)
    keys.forEach((key, i) => drawn.push({ key, draw: draws[i]! }))
  }
  return drawn
    .sort((a, b) => a.draw - b.draw)
    .slice(0, size)
    .map(({ key }) => key)
}
