import { RawValue, readInt32, writeInt32 } from '@shardlab/bson'

const blockBytesMin = 128
const blockBytesMax = 256 * 1024
/** An address is the number of a block times this, plus an offset within the block. */
const addressesPerBlock = 1024 * 1024
const noAddress = -1

/** Of an entry: block and offset of the next one, length, type. */
const [nextOffsetAt, lengthAt, typeAt, headBytes] = [4, 8, 12, 13]

/**
 * Copies of values that a stage holds, in few buffers. A value on its own costs 50 bytes of the
 * heap and keeps its document alive, and a collection of garbage visits it.
 *
 * Addresses are numbers. Values are never removed: the arena is dropped with its stage.
 */
export class ValueArena {
  readonly #blocks: Buffer[] = []
  #used = 0

  /** @returns its address */
  add(value: RawValue): number {
    const length = value.end - value.start
    const address = this.#room(headBytes + length)
    const block = this.#blocks[Math.floor(address / addressesPerBlock)]!
    const at = address % addressesPerBlock
    writeInt32(block, at, noAddress)
    writeInt32(block, at + lengthAt, length)
    block[at + typeAt] = value.type
    copy(value, block, at + headBytes)
    return address
  }

  /** As {@link add}; {@link after} finds the value from the one before it. */
  addAfter(previous: number, value: RawValue): number {
    const address = this.add(value)
    const block = this.#blocks[Math.floor(previous / addressesPerBlock)]!
    const at = previous % addressesPerBlock
    writeInt32(block, at, Math.floor(address / addressesPerBlock))
    writeInt32(block, at + nextOffsetAt, address % addressesPerBlock)
    return address
  }

  /**
   * In place if the value is not longer than the one that it replaces: then what {@link at} has
   * returned changes.
   * @returns its address
   */
  replace(address: number, value: RawValue): number {
    const block = this.#blocks[Math.floor(address / addressesPerBlock)]!
    const at = address % addressesPerBlock
    const length = value.end - value.start
    if (length > readInt32(block, at + lengthAt)) return this.add(value)
    writeInt32(block, at + lengthAt, length)
    block[at + typeAt] = value.type
    copy(value, block, at + headBytes)
    return address
  }

  /** Without a copy. */
  at(address: number): RawValue {
    const block = this.#blocks[Math.floor(address / addressesPerBlock)]!
    const start = (address % addressesPerBlock) + headBytes
    return new RawValue(
      block[start - headBytes + typeAt]!,
      block,
      start,
      start + readInt32(block, start - headBytes + lengthAt),
    )
  }

  /** The address of the value that was added after this one. Null: none was. */
  after(address: number): number | null {
    const block = this.#blocks[Math.floor(address / addressesPerBlock)]!
    const at = address % addressesPerBlock
    const next = readInt32(block, at)
    return next === noAddress ? null : next * addressesPerBlock + readInt32(block, at + nextOffsetAt)
  }

  #room(bytes: number): number {
    const last = this.#blocks.at(-1)
    if (last === undefined || this.#used + bytes > last.length) {
      const size = Math.max(bytes, Math.min(blockBytesMax, (last?.length ?? 0) * 2), blockBytesMin)
      this.#blocks.push(Buffer.allocUnsafe(size))
      this.#used = 0
    }
    const address = (this.#blocks.length - 1) * addressesPerBlock + this.#used
    this.#used += bytes
    return address
  }
}

/** Values are mostly short: a loop costs less than a call into the runtime. */
const shortBytes = 40

function copy({ bytes, start, end }: RawValue, target: Uint8Array, at: number): void {
  if (end - start > shortBytes) target.set(bytes.subarray(start, end), at)
  else for (let i = start, to = at; i < end; i++, to++) target[to] = bytes[i]!
}
