import { RawValue, readInt32, writeInt32 } from '@shardlab/bson'
import type { ValueStore } from './value-store.js'

const blockBytesMin = 128
const blockBytesMax = 256 * 1024
/** An address is the number of a block times this, plus an offset within the block. */
const addressesPerBlock = 1024 * 1024
const noBlock = -1

/** Of an entry: block and offset of the next one, length, room for a longer value, type. */
const [nextOffsetAt, lengthAt, roomAt, typeAt, headBytes] = [4, 8, 12, 16, 17]

/**
 * Copies of many values in few buffers. A value on its own costs 50 bytes of the heap and keeps its
 * document alive, and a collection of garbage visits it.
 */
export class ValueArena implements ValueStore {
  readonly #blocks: Buffer[] = []
  #used = 0

  add(value: RawValue): number {
    return this.#add(value, value.end - value.start)
  }

  addAfter(previous: number, value: RawValue): number {
    const address = this.add(value)
    const block = this.#block(previous)
    const at = previous % addressesPerBlock
    writeInt32(block, at, Math.floor(address / addressesPerBlock))
    writeInt32(block, at + nextOffsetAt, address % addressesPerBlock)
    return address
  }

  /** In place where there is room; else with twice the room, so that little is left behind. */
  replace(address: number, value: RawValue): number {
    const block = this.#block(address)
    const at = address % addressesPerBlock
    const length = value.end - value.start
    const room = readInt32(block, at + roomAt)
    if (length > room) return this.#add(value, Math.max(length, 2 * room))
    write(value, block, at)
    return address
  }

  at(address: number): RawValue {
    const block = this.#block(address)
    const at = address % addressesPerBlock
    const start = at + headBytes
    return new RawValue(block[at + typeAt]!, block, start, start + readInt32(block, at + lengthAt))
  }

  *from(address: number): Generator<RawValue, void> {
    for (let next = address; ;) {
      yield this.at(next)
      const block = this.#block(next)
      const at = next % addressesPerBlock
      const number = readInt32(block, at)
      if (number === noBlock) return
      next = number * addressesPerBlock + readInt32(block, at + nextOffsetAt)
    }
  }

  #block(address: number): Buffer {
    return this.#blocks[Math.floor(address / addressesPerBlock)]!
  }

  #add(value: RawValue, room: number): number {
    const address = this.#allocate(headBytes + room)
    const block = this.#block(address)
    const at = address % addressesPerBlock
    writeInt32(block, at, noBlock)
    writeInt32(block, at + roomAt, room)
    write(value, block, at)
    return address
  }

  #allocate(bytes: number): number {
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

function write({ type, bytes, start, end }: RawValue, block: Buffer, at: number): void {
  writeInt32(block, at + lengthAt, end - start)
  block[at + typeAt] = type
  const to = at + headBytes
  if (end - start > shortBytes) block.set(bytes.subarray(start, end), to)
  else for (let i = 0; i < end - start; i++) block[to + i] = bytes[start + i]!
}
