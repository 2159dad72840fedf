import { unpackRanges, type CancelSignal, type SizedRange } from '@shardlab/actor'
import { CommandError, sameBytes } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { noSize, type RangeSink, type ReceivedClone, type ReceivedMods, type Size } from '../collection-ranges.js'
import type { MeasuredCollection } from './measured-collection.js'
import { sizeOf } from './sized-range.js'

/** Cloning takes the time that the documents would. */
export class MeasuredSink implements RangeSink {
  readonly #node: NodeHost
  readonly #ns: string
  readonly #measured: MeasuredCollection
  readonly #stopping: CancelSignal
  readonly #cloneBytesPerSecond: number

  constructor(
    node: NodeHost,
    ns: string,
    measured: MeasuredCollection,
    stopping: CancelSignal,
    cloneBytesPerSecond: number,
  ) {
    this.#node = node
    this.#ns = ns
    this.#measured = measured
    this.#stopping = stopping
    this.#cloneBytesPerSecond = cloneBytesPerSecond
  }

  async store({ sizes }: ReceivedClone): Promise<Size> {
    const ranges = unpackRanges(this.#expectSizes(sizes))
    const durationMs = Math.ceil((sizeOf(ranges).bytes * 1000) / this.#cloneBytesPerSecond)
    await this.#node.context.sleep(durationMs, this.#stopping)
    if (this.#stopping.aborted) throw new CommandError('Interrupted', 'the migration was aborted')
    return this.#change(ranges)
  }

  apply({ sizes }: ReceivedMods): Size {
    return this.#change(unpackRanges(this.#expectSizes(sizes)))
  }

  #expectSizes(sizes: Uint8Array | null): Uint8Array {
    if (sizes === null) throw new Error(`${this.#ns} is measured here and not on the donor`)
    return sizes
  }

  #change(ranges: readonly SizedRange[]): Size {
    if (ranges.length === 0) return noSize
    const collection = this.#node.collection(this.#ns)
    if (collection === undefined || !sameBytes(collection.uuid, this.#measured.uuid))
      throw new CommandError('NamespaceNotFound', `Collection ${this.#ns} was dropped in the middle of the migration`)
    return this.#measured.change(ranges)
  }
}
