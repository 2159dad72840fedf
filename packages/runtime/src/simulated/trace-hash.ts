import type { Packet } from '@shardlab/actor'

function mixed(state: number, word: number): number {
  let scrambled = Math.imul(word, 0xcc9e_2d51)
  scrambled = Math.imul((scrambled << 15) | (scrambled >>> 17), 0x1b87_3593)
  const turned = state ^ scrambled
  return (Math.imul((turned << 13) | (turned >>> 19), 5) + 0xe654_6b64) | 0
}

/** A running 64-bit hash: two halves of 32 bits, each with its own mix of the words. */
export class TraceHash {
  #low = 0x9e37_79b9
  #high = 0x7f4a_7c15
  /** The memory of the last packet, with a view: consecutive packets often share it. */
  #buffer = new ArrayBuffer(0)
  #view: DataView = new DataView(this.#buffer)

  /** An integer up to 2^53. */
  addInteger(value: number): void {
    this.#addWord(value | 0)
    this.#addWord(Math.floor(value / 2 ** 32))
  }

  addText(text: string): void {
    this.#addWord(text.length)
    for (let i = 0; i < text.length; i++) this.#addWord(text.charCodeAt(i))
  }

  addPacket({ bytes, buffer, start, end }: Packet): void {
    this.#addWord(end - start)
    if (buffer !== this.#buffer) {
      this.#buffer = buffer
      this.#view = new DataView(buffer)
    }
    const view = this.#view
    const whole = start + ((end - start) & ~3)
    let low = this.#low
    let high = this.#high
    for (let i = start; i < whole; i += 4) {
      const word = view.getInt32(i)
      low = mixed(low, word)
      high = mixed(high, word ^ low)
    }
    this.#low = low
    this.#high = high
    for (let i = whole; i < end; i++) this.#addWord(bytes[i]!)
  }

  /** 16 hexadecimal digits. */
  digest(): string {
    const hex = (word: number) => (word >>> 0).toString(16).padStart(8, '0')
    return hex(this.#high) + hex(this.#low)
  }

  #addWord(word: number): void {
    this.#low = mixed(this.#low, word)
    this.#high = mixed(this.#high, word ^ this.#low)
  }
}
