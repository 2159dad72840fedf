/** Server: SamplingBasedSplitPolicy of initial_split_policy.cpp. */
import type { Random, ReplyOf, RequestOf } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import { addKeys, inTurns, type NodeHost, type SteppedWork } from '@shardlab/node'
import type { ShardKeyPattern } from '@shardlab/sharding'
import type { ShardHost } from '../host/host.js'
import { samplingRandom } from './sampling-random.js'
import { enterAnalysis, type AnalysedKey } from './analysed-collection.js'

/**
 * Each owned document draws a number; those with the smallest of all shards are a random sample.
 */
export async function sampleKeys(
  { node }: ShardHost,
  request: RequestOf<'shard.sample-keys'>,
): Promise<ReplyOf<'shard.sample-keys'>> {
  const analysed = await enterAnalysis(node, request)
  const sample = new SmallestDraws(request.size, samplingRandom(node))
  await inTurns(node, null, offerAll(node, analysed, sample))
  const chosen = sample.chosen()
  return {
    keys: chosen.map(({ document }) => keyOf(analysed.shardKey, document)),
    draws: chosen.map(({ draw }) => draw),
    error: null,
  }
}

function* offerAll(node: NodeHost, { collection, ownership }: AnalysedKey, sample: SmallestDraws): SteppedWork<void> {
  yield* addKeys(node, collection)
  const records = collection.snapshot().scan()
  for (let record = records.next(); record !== null; record = records.next()) {
    if (ownership === null || ownership.owns(record.document)) sample.offer(record.document)
    yield
  }
}

export function keyOf(shardKey: ShardKeyPattern, document: Uint8Array): Uint8Array {
  const key = shardKey.extract(document)
  if (typeof key === 'string') throw arrayInKey(shardKey)
  return shardKey.boundDocument(key.values)
}

export function arrayInKey(shardKey: ShardKeyPattern): CommandError {
  return new CommandError('BadValue', `The shard key contains an array field '${shardKey.paths[0]!}'`)
}

interface Draw {
  readonly draw: number
  readonly document: Uint8Array
}

/** Sorts when it has twice the wanted number. */
class SmallestDraws {
  readonly #size: number
  readonly #random: Random
  #draws: Draw[] = []
  #limit = Number.POSITIVE_INFINITY

  constructor(size: number, random: Random) {
    this.#size = size
    this.#random = random
  }

  offer(document: Uint8Array): void {
    const draw = this.#random.uint32()
    if (draw >= this.#limit) return
    this.#draws.push({ draw, document })
    if (this.#draws.length >= this.#size * 2) this.#shrink()
  }

  chosen(): readonly Draw[] {
    this.#shrink()
    return this.#draws
  }

  #shrink(): void {
    this.#draws.sort((a, b) => a.draw - b.draw)
    if (this.#draws.length <= this.#size) return
    this.#draws = this.#draws.slice(0, this.#size)
    this.#limit = this.#draws.at(-1)!.draw
  }
}
