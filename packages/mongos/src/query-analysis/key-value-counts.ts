/** Merges the shards' values, which arrive in pages in index order. */
import { DocumentWriter, emptyDocument } from '@shardlab/bson'
import { raise } from '../remote/command-reply.js'
import type { Analysis } from './analysis.js'

export interface ValueCounts {
  /** The number of documents. */
  readonly sampled: number
  readonly distinct: number
  /** By descending frequency. */
  readonly common: readonly { readonly value: Uint8Array; readonly frequency: number }[]
}

export interface CountOptions {
  readonly total: number
  /** The number of documents. */
  readonly sampled: number
  /** The number of most common values. */
  readonly wanted: number
}

interface CommonKey {
  readonly key: string
  readonly frequency: number
  readonly shard: string
}

export class KeyValueCounts {
  readonly #analysis: Analysis
  readonly #index: string
  readonly #options: CountOptions
  readonly #sampling: Uint8Array
  #sampled = 0
  #distinct = 0
  /** Ascending by frequency; at most `wanted` entries. */
  readonly #common: CommonKey[] = []

  constructor(analysis: Analysis, index: string, options: CountOptions) {
    this.#analysis = analysis
    this.#index = index
    this.#options = options
    const { total, sampled } = options
    this.#sampling = new DocumentWriter(32).double('rate', sampled < total ? sampled / total : 1).finish()
  }

  async run(): Promise<ValueCounts> {
    const streams = this.#analysis.shards.map(
      (shard) => new ValueStream(this.#analysis, this.#index, this.#sampling, shard),
    )
    const limit = this.#options.sampled
    while (this.#sampled < limit) {
      for (const stream of streams) await stream.fill()
      const alive = streams.filter((stream) => stream.key !== null)
      if (alive.length === 0) break
      const key = alive.reduce((least, { key: other }) => (other! < least ? other! : least), alive[0]!.key!)
      const holders = alive.filter((stream) => stream.key === key)
      const frequency = holders.reduce((sum, stream) => sum + stream.take(), 0)
      if (frequency > 0)
        this.#count({ key, frequency: Math.min(frequency, limit - this.#sampled), shard: holders[0]!.shard })
    }
    return { sampled: this.#sampled, distinct: this.#distinct, common: await this.#values() }
  }

  #count(found: CommonKey): void {
    this.#sampled += found.frequency
    this.#distinct++
    const common = this.#common
    if (common.length >= this.#options.wanted && found.frequency <= common[0]!.frequency) return
    let at = common.findIndex(({ frequency }) => frequency >= found.frequency)
    if (at < 0) at = common.length
    common.splice(at, 0, found)
    if (common.length > this.#options.wanted) common.shift()
  }

  async #values(): Promise<{ value: Uint8Array; frequency: number }[]> {
    const { invocation, about } = this.#analysis
    const { host, operation } = invocation
    const values: { value: Uint8Array; frequency: number }[] = []
    for (const { key, shard, frequency } of this.#common.toReversed()) {
      const request = { ...about(shard), index: this.#index, keys: [key], limit: 1 }
      const reply = await host.remote.request(shard, 'shard.key-values', request, operation)
      raise(reply.error)
      // A document that was deleted since it was counted has no values left to show.
      values.push({ value: reply.values[0] ?? emptyDocument, frequency })
    }
    return values
  }
}

class ValueStream {
  readonly shard: string
  readonly #analysis: Analysis
  readonly #index: string
  readonly #sampling: Uint8Array
  #keys: readonly string[] = []
  #frequencies: readonly number[] = []
  #at = 0
  #done = false

  constructor(analysis: Analysis, index: string, sampling: Uint8Array, shard: string) {
    this.#analysis = analysis
    this.#index = index
    this.#sampling = sampling
    this.shard = shard
  }

  get key(): string | null {
    return this.#keys[this.#at] ?? null
  }

  async fill(): Promise<void> {
    if (this.#done || this.#at < this.#keys.length) return
    const { invocation, about } = this.#analysis
    const { host, operation } = invocation
    const request = {
      ...about(this.shard),
      index: this.#index,
      after: this.#keys.at(-1) ?? null,
      sampling: this.#sampling,
    }
    const { keys, frequencies, done, error } = await host.remote.request(
      this.shard,
      'shard.count-key-values',
      request,
      operation,
    )
    raise(error)
    this.#keys = keys
    this.#frequencies = frequencies
    this.#at = 0
    this.#done = done
  }

  take(): number {
    return this.#frequencies[this.#at++]!
  }
}
