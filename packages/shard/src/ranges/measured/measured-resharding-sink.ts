import { unpackRanges, type CancelSignal, type SizedRange } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { NodeHost } from '@shardlab/node'
import { type ReceivedClone, type ReceivedMods, type ReshardingSink, type Size } from '../collection-ranges.js'
import type { MeasuredCollection } from './measured-collection.js'
import { sizeOf } from './sized-range.js'

/** What a donor sends is stored in about as many steps, so that the size grows with time. */
const steps = 64

/** Cloning takes the time that the documents would; the donors share the recipient's bandwidth. */
export class MeasuredReshardingSink implements ReshardingSink {
  readonly updated = 0
  readonly waits = 0
  inserted = 0
  deleted = 0
  readonly #node: NodeHost
  readonly #measured: MeasuredCollection
  readonly #stopping: CancelSignal
  readonly #bytesPerMs: number
  /** Until then the recipient receives what has been requested. */
  #busyUntilMs = 0

  constructor(node: NodeHost, measured: MeasuredCollection, stopping: CancelSignal, cloneBytesPerSecond: number) {
    this.#node = node
    this.#measured = measured
    this.#stopping = stopping
    this.#bytesPerMs = cloneBytesPerSecond / 1000
  }

  async store(donor: string, { sizes }: ReceivedClone): Promise<Size> {
    const ranges = unpackRanges(expectSizes(donor, sizes))
    const size = sizeOf(ranges)
    let step: SizedRange[] = []
    let bytes = 0
    for (const [i, range] of ranges.entries()) {
      step.push(range)
      bytes += range.bytes
      if (i < ranges.length - 1 && bytes < size.bytes / steps) continue
      await this.#receive(bytes)
      this.#change(step)
      step = []
      bytes = 0
    }
    return size
  }

  apply(donor: string, { sizes }: ReceivedMods): number {
    const ranges = unpackRanges(expectSizes(donor, sizes))
    if (ranges.length > 0) this.#change(ranges)
    return ranges.length
  }

  retry(): void {}

  finish(): void {}

  async #receive(bytes: number): Promise<void> {
    const { context } = this.#node
    const now = context.now()
    this.#busyUntilMs = Math.max(now, this.#busyUntilMs) + bytes / this.#bytesPerMs
    await context.sleep(Math.ceil(this.#busyUntilMs - now), this.#stopping)
    if (this.#stopping.aborted) throw new CommandError('ReshardCollectionAborted', 'aborted')
  }

  #change(ranges: readonly SizedRange[]): void {
    this.#measured.change(ranges)
    for (const { documents } of ranges)
      if (documents > 0) this.inserted += documents
      else this.deleted -= documents
  }
}

function expectSizes(donor: string, sizes: Uint8Array | null): Uint8Array {
  if (sizes === null) throw new Error(`the collection is measured here and not on ${donor}`)
  return sizes
}
