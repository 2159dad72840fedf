/** Server: calculateKeyCharacteristicsMetrics of analyze_shard_key_cmd_util.cpp. */
import type { ReplyOf } from '@shardlab/actor'
import { CommandError, DocumentWriter, FieldIterator, typeName, BsonType, type RawValue } from '@shardlab/bson'
import { raise } from '../remote/command-reply.js'
import type { Analysis } from './analysis.js'
import { KeyValueCounts, type ValueCounts } from './key-value-counts.js'

/** A document, less room for the rest of the reply. */
const commonValuesBytesMax = 16 * 1024 * 1024 - 1000 * 1024

const orphanNote =
  'Due to performance reasons, the analyzeShardKey command does not filter out orphan documents when calculating metrics about the ' +
  'characteristics of the shard key. Therefore, if "numOrphanDocs" is large relative to "numDocsTotal", you may want to rerun the command ' +
  'at some other time to get more accurate "numDistinctValues" and "mostCommonValues" metrics.'

/** @returns false: no index supports the key, and nothing was written */
export async function writeKeyCharacteristics(writer: DocumentWriter, analysis: Analysis): Promise<boolean> {
  const { index, isUnique, monotonicity } = await describeKey(analysis)
  if (index === null) return false
  const { count, sizeBytes, orphanCount } = await measure(analysis)
  const { counted, values } = await commonValues(analysis, index, isUnique, count)
  writer.startDocument('keyCharacteristics').int64('numDocsTotal', Math.max(count, counted.sampled))
  if (analysis.isSharded) writer.int64('numOrphanDocs', orphanCount)
  writer
    .int64('avgDocSizeBytes', Math.trunc(sizeBytes / count))
    .int64('numDocsSampled', counted.sampled)
    .bool('isUnique', isUnique)
    .int64('numDistinctValues', counted.distinct)
    .startArray('mostCommonValues')
  values.forEach(({ value, frequency }, i) =>
    writer.startDocument(String(i)).document('value', value).int64('frequency', frequency).end(),
  )
  writer.end().document('monotonicity', monotonicity!)
  if (analysis.isSharded) writer.string('note', orphanNote)
  writer.end()
  return true
}

/**
 * Asks the shards in turn until one has documents.
 * @throws CommandError 20 IllegalOperation when none has
 */
async function describeKey(analysis: Analysis): Promise<ReplyOf<'shard.describe-key'>> {
  const { invocation, first, shards, options, parameters, about } = analysis
  const { host, operation } = invocation
  const { sampleRate, sampleSize } = options
  const sampling = new DocumentWriter(32)
  if (sampleRate === null) sampling.double('sampleSize', sampleSize ?? parameters.defaultSampleSize)
  else sampling.double('sampleRate', sampleRate)
  const request = sampling.finish()
  const others = host.context.random.shuffled(shards.filter((shard) => shard !== first))
  for (const shard of [first, ...others]) {
    const reply = await host.remote.request(
      shard,
      'shard.describe-key',
      { ...about(shard), sampling: request },
      operation,
    )
    try {
      raise(reply.error)
      return reply
    } catch (error) {
      if (!(error instanceof CommandError) || error.codeName !== 'CollectionIsEmptyLocally') throw error
    }
  }
  throw new CommandError(
    'IllegalOperation',
    'Cannot analyze a shard key for an empty collection: CollectionIsEmptyLocally: Cannot analyze the characteristics of a shard key for an empty collection',
  )
}

async function measure({
  invocation,
  shards,
  about,
}: Analysis): Promise<{ count: number; sizeBytes: number; orphanCount: number }> {
  const { host, operation } = invocation
  const replies = await host.context.all(
    shards.map((shard) => host.remote.request(shard, 'shard.measure-collection', about(shard), operation)),
  )
  const sums = { count: 0, sizeBytes: 0, orphanCount: 0 }
  for (const { count, sizeBytes, orphanCount, error } of replies) {
    raise(error)
    sums.count += count
    sums.sizeBytes += sizeBytes
    sums.orphanCount += orphanCount
  }
  return sums
}

interface CommonValue {
  readonly value: Uint8Array
  readonly frequency: number
}

/**
 * @throws CommandError 72 InvalidOptions for a sample smaller than the number of values; 7826506
 *   and 7826507 for empty samples
 */
async function commonValues(
  analysis: Analysis,
  index: string,
  isUnique: boolean,
  total: number,
): Promise<{ counted: Pick<ValueCounts, 'sampled' | 'distinct'>; values: CommonValue[] }> {
  const { options, parameters } = analysis
  const { sampleRate } = options
  const wanted = parameters.mostCommonValueCount
  const sampleSize = options.sampleSize ?? parameters.defaultSampleSize
  if (sampleRate === null && sampleSize < wanted) {
    throw new CommandError(
      'InvalidOptions',
      `The requested number of most common values is ${wanted} but the requested number of documents according to 'sampleSize' is ${sampleSize}`,
    )
  }
  const sampled = sampleRate === null ? Math.min(sampleSize, total) : Math.ceil(sampleRate * total)
  if (isUnique) {
    const count = Math.min(wanted, sampled)
    const values = await firstValues(analysis, count)
    if (values.length === 0)
      throw new CommandError(
        7826506,
        'Cannot analyze the cardinality and frequency of a shard key for an empty collection',
      )
    return {
      counted: { sampled, distinct: sampled },
      values: values.map((value) => ({ value: fitted(value, count), frequency: 1 })),
    }
  }
  const counted = await new KeyValueCounts(analysis, index, { total, sampled, wanted }).run()
  if (counted.sampled === 0)
    throw new CommandError(
      7826507,
      'Cannot analyze the cardinality and frequency of a shard key because the number of sampled documents is zero',
    )
  return {
    counted,
    values: counted.common.map(({ value, frequency }) => ({ value: fitted(value, wanted), frequency })),
  }
}

async function firstValues({ invocation, shards, about }: Analysis, limit: number): Promise<Uint8Array[]> {
  const { host, operation } = invocation
  const values: Uint8Array[] = []
  for (const shard of shards) {
    if (values.length >= limit) break
    const request = { ...about(shard), index: null, keys: null, limit: limit - values.length }
    const reply = await host.remote.request(shard, 'shard.key-values', request, operation)
    raise(reply.error)
    for (const value of reply.values) if (value !== null) values.push(value)
  }
  return values
}

/** Each value gets an equal share of the limit. */
function fitted(value: Uint8Array, count: number): Uint8Array {
  const bytesMax = Math.floor(commonValuesBytesMax / count)
  return value.length > bytesMax ? truncated(value, bytesMax, 0) : value
}

/** Replaces fields that are too large by their type and size; descends into documents. */
function truncated(document: Uint8Array, bytesMax: number, depth: number): Uint8Array {
  const writer = new DocumentWriter(1024)
  // Counts as the server's builder does: the length prefix and all that was appended.
  let used = 4
  for (const it = new FieldIterator(document); it.next();) {
    const name = it.name()
    const value = it.value()
    const elementBytes = 2 + Buffer.byteLength(name) + (value.end - value.start)
    const left = bytesMax - used
    if (elementBytes < left) {
      writer.value(name, value)
      used += elementBytes
      continue
    }
    const stand =
      value.type === BsonType.object && depth === 0 ? truncated(value.slice(), left, depth + 1) : truncatedValue(value)
    writer.document(name, stand)
    used += 2 + Buffer.byteLength(name) + stand.length
  }
  return writer.finish()
}

function truncatedValue(value: RawValue): Uint8Array {
  return new DocumentWriter(64)
    .string('type', typeName(value.type))
    .string('value', 'truncated')
    .int32('sizeBytes', value.end - value.start)
    .finish()
}
