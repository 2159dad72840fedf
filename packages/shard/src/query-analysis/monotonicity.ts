/** Server: calculateMonotonicity of analyze_shard_key_cmd_util.cpp. */
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { catchUpKeys, inTurns, type NodeHost, type SteppedWork } from '@shardlab/node'
import type { Collection, Index } from '@shardlab/storage'
import { shardKeyPrefixedIndex } from '../shard-key/shard-key-prefixed-index.js'
import { samplingRandom } from './sampling-random.js'
import type { AnalysedKey } from './analysed-collection.js'

/** Of all figures of an analysis. */
const decimalPlaces = 10

/**
 * The correlation of index order and record ids. The type is unknown, without a coefficient, in
 * clustered collections, for compound keys whose hashed field is not the first, and without an
 * index of the key itself.
 * @param sampling `{ sampleRate }` or `{ sampleSize }`
 * @returns `{ recordIdCorrelationCoefficient, type }`
 * @throws CommandError 7826505 when the sample is empty
 */
export async function monotonicityOf(
  node: NodeHost,
  { collection: live, shardKey }: AnalysedKey,
  sampling: Uint8Array,
): Promise<Uint8Array> {
  await catchUpKeys(node, null, live)
  const collection = live.snapshot()
  if (collection.clustered) return monotonicity(null, 'unknown')
  if (shardKey.isHashed)
    return shardKey.hashedIndex === 0 ? monotonicity(0, 'not monotonic') : monotonicity(null, 'unknown')
  const index = shardKeyPrefixedIndex(collection, shardKey.document)
  if (index === undefined || index.multikey) return monotonicity(null, 'unknown')
  const { recordIds, severalKeys } = await inTurns(
    node,
    null,
    sampledRecordIds(node, collection, index, shardKey.fields.length, sampling),
  )
  if (recordIds.length === 0)
    throw new CommandError(7826505, 'Cannot analyze the monotonicity because the number of sampled records is zero')
  if (!severalKeys) return monotonicity(0, 'not monotonic')
  const coefficient = roundUp(correlationWithPosition(recordIds))
  const threshold = node.parameters.number('analyzeShardKeyMonotonicityCorrelationCoefficientThreshold')
  return monotonicity(coefficient, Math.abs(coefficient) >= threshold ? 'monotonic' : 'not monotonic')
}

function monotonicity(coefficient: number | null, type: string): Uint8Array {
  const writer = new DocumentWriter(96)
  if (coefficient !== null) writer.double('recordIdCorrelationCoefficient', coefficient)
  return writer.string('type', type).finish()
}

function* sampledRecordIds(
  node: NodeHost,
  collection: Collection,
  index: Index,
  fieldCount: number,
  sampling: Uint8Array,
): SteppedWork<{ recordIds: number[]; severalKeys: boolean }> {
  const total = collection.count
  const rateGiven = findField(sampling, 'sampleRate')?.asNumber()
  const wanted =
    rateGiven === undefined
      ? Math.min(findField(sampling, 'sampleSize')!.asNumber(), total)
      : Math.ceil(rateGiven * total)
  const rate = rateGiven ?? wanted / total
  const random = samplingRandom(node)
  const recordIds: number[] = []
  let firstKey: string | null = null
  let severalKeys = false
  const cursor = index.scanKeys(undefined, undefined, false)
  for (let recordId = cursor.next(); recordId >= 0 && recordIds.length < wanted; recordId = cursor.next()) {
    yield
    if (rate !== 1 && random.fraction() >= rate) continue
    recordIds.push(recordId)
    if (severalKeys) continue
    firstKey ??= keyPrefix(index, collection.get(recordId)!.document, fieldCount)
    severalKeys = !cursor.key.startsWith(firstKey)
  }
  return { recordIds, severalKeys }
}

export function keyPrefix(index: Index, document: Uint8Array, fieldCount: number): string {
  return index.encode(index.tuplesOf(document)[0]!.slice(0, fieldCount))
}

/** Pearson's coefficient of the values with 1, 2, 3, … */
function correlationWithPosition(values: readonly number[]): number {
  const n = values.length
  const meanPosition = (n + 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / n
  let covariance = 0
  let positionVariance = 0
  let variance = 0
  values.forEach((value, i) => {
    const position = i + 1 - meanPosition
    covariance += position * (value - mean)
    positionVariance += position * position
    variance += (value - mean) * (value - mean)
  })
  return covariance / Math.sqrt(positionVariance * variance)
}

/** Rounds up, as the server does with all figures of an analysis. */
function roundUp(value: number): number {
  const factor = 10 ** decimalPlaces
  return Math.ceil(value * factor) / factor
}
