/** Server: calculateCardinalityAndFrequency of analyze_shard_key_cmd_util.cpp. */
import { CommandError, DocumentWriter, findField, keyStringUpperBound, nullValue, type RawValue } from '@shardlab/bson'
import type { Random, ReplyOf, RequestOf } from '@shardlab/actor'
import type { Index } from '@shardlab/storage'
import { hexOfKey, keyOfHex } from '@shardlab/sharding'
import type { ShardHost } from '../host/host.js'
import { enterAnalysis, type AnalysedKey } from './analysed-collection.js'
import { samplingRandom } from './sampling-random.js'
import { keyPrefix } from './monotonicity.js'

/** Index entries per page: other work runs in between. A page ends after all entries of a value. */
const pageEntries = 20_000

export async function countKeyValues(
  { node }: ShardHost,
  request: RequestOf<'shard.count-key-values'>,
): Promise<ReplyOf<'shard.count-key-values'>> {
  const analysed = await enterAnalysis(node, request)
  const index = indexOf(analysed, request.index)
  const rate = findField(request.sampling, 'rate')!.asNumber()
  const random = rate === 1 ? null : samplingRandom(node)
  return { ...page(analysed, index, request.after, random === null ? null : { random, rate }), error: null }
}

interface SampledEntries {
  readonly random: Random
  readonly rate: number
}

function page(
  { collection, shardKey }: AnalysedKey,
  index: Index,
  after: string | null,
  sampled: SampledEntries | null,
): { keys: string[]; frequencies: number[]; done: boolean } {
  const keys: string[] = []
  const frequencies: number[] = []
  const from = after === null ? undefined : keyStringUpperBound(keyOfHex(after))
  const cursor = index.scanKeys(from, undefined, false)
  let prefix: string | null = null
  let end = ''
  let frequency = 0
  let entries = 0
  const close = () => {
    // Include values without a sampled document: the next page starts after the last value.
    if (prefix === null) return
    keys.push(hexOfKey(prefix))
    frequencies.push(frequency)
  }
  for (let recordId = cursor.next(); recordId >= 0; recordId = cursor.next()) {
    if (prefix === null || cursor.key >= end) {
      close()
      if (entries >= pageEntries) return { keys, frequencies, done: false }
      prefix = keyPrefix(index, collection.get(recordId)!.document, shardKey.fields.length)
      end = keyStringUpperBound(prefix)
      frequency = 0
    }
    entries++
    if (sampled === null || sampled.random.fraction() < sampled.rate) frequency++
  }
  close()
  return { keys, frequencies, done: true }
}

/** Hashed fields are read from the document. */
export async function keyValues(
  { node }: ShardHost,
  request: RequestOf<'shard.key-values'>,
): Promise<ReplyOf<'shard.key-values'>> {
  const analysed = await enterAnalysis(node, request)
  const { collection, shardKey, ownership } = analysed
  const values: (Uint8Array | null)[] = []
  if (request.keys === null) {
    const records = collection.scan()
    for (let record = records.next(); record !== null && values.length < request.limit; record = records.next()) {
      if (ownership === null || ownership.owns(record.document))
        values.push(valueOf(record.document, shardKey.fields, false))
    }
    return { values, error: null }
  }
  const index = indexOf(analysed, request.index!)
  const fromDocument = shardKey.fields.some((_, i) => index.pattern[i]!.direction === 'hashed')
  for (const key of request.keys) {
    const prefix = keyOfHex(key)
    const recordId = index.scanKeys(prefix, keyStringUpperBound(prefix), false).next()
    values.push(recordId < 0 ? null : valueOf(collection.get(recordId)!.document, shardKey.fields, !fromDocument))
  }
  return { values, error: null }
}

/** @param missingIsNull missing fields are null as in an index; otherwise they are omitted */
function valueOf(document: Uint8Array, fields: AnalysedKey['shardKey']['fields'], missingIsNull: boolean): Uint8Array {
  const writer = new DocumentWriter(64)
  for (const { path, parts } of fields) {
    const value = valueAt(document, parts)
    if (value !== undefined) writer.value(path, value)
    else if (missingIsNull) writer.value(path, nullValue)
  }
  return writer.finish()
}

function valueAt(document: Uint8Array, parts: readonly string[]): RawValue | undefined {
  let value = findField(document, parts[0]!)
  for (let i = 1; i < parts.length && value !== undefined; i++) value = findField(value.bytes, parts[i]!, value.start)
  return value
}

function indexOf({ collection }: AnalysedKey, name: string): Index {
  const index = collection.index(name)
  if (index === undefined) throw new CommandError('QueryPlanKilled', `index '${name}' dropped`)
  return index
}
