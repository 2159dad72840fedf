import { readDouble, readName, readUtf8 } from '@shardlab/bson'

const float = new Uint8Array(8)

/** Reads the msgpack values that {@link ValueWriter} writes, and no others. Byte arrays are views. */
export class ValueReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** @throws Error for what no writer of ours writes */
  value(): unknown {
    const byte = this.#bytes[this.#at++]!
    if (byte < 0x80) return byte
    if (byte >= 0xe0) return byte - 0x100
    if (byte >= 0xa0 && byte < 0xc0) return this.#text(byte & 0x1f)
    if (byte >= 0x90 && byte < 0xa0) return this.#array(byte & 0xf)
    switch (byte) {
      case 0xc0:
        return null
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xc4:
        return this.#byteArray(this.#uint(1))
      case 0xc5:
        return this.#byteArray(this.#uint(2))
      case 0xc6:
        return this.#byteArray(this.#uint(4))
      case 0xcb:
        return this.#double()
      case 0xcc:
        return this.#uint(1)
      case 0xcd:
        return this.#uint(2)
      case 0xce:
        return this.#uint(4)
      case 0xd0:
        return (this.#uint(1) << 24) >> 24
      case 0xd1:
        return (this.#uint(2) << 16) >> 16
      case 0xd2:
        return this.#uint(4) | 0
      case 0xd9:
        return this.#text(this.#uint(1))
      case 0xda:
        return this.#text(this.#uint(2))
      case 0xdb:
        return this.#text(this.#uint(4))
      case 0xdc:
        return this.#array(this.#uint(2))
      case 0xdd:
        return this.#array(this.#uint(4))
      default:
        throw new Error(`no message has a value that begins with the byte ${byte}`)
    }
  }

  #array(length: number): unknown[] {
    const values: unknown[] = []
    for (let i = 0; i < length; i++) values.push(this.value())
    return values
  }

  #text(lengthBytes: number): string {
    const start = this.#at
    const end = (this.#at = start + lengthBytes)
    // Epochs, databases and addresses come with every message.
    return lengthBytes <= 32 ? readName(this.#bytes, start, end) : readUtf8(this.#bytes, start, end)
  }

  #byteArray(length: number): Uint8Array {
    const start = this.#at
    return this.#bytes.subarray(start, (this.#at = start + length))
  }

  /** Big-endian, as all of msgpack. */
  #uint(lengthBytes: number): number {
    let value = 0
    for (let i = 0; i < lengthBytes; i++) value = value * 0x100 + this.#bytes[this.#at++]!
    return value
  }

  #double(): number {
    for (let i = 7; i >= 0; i--) float[i] = this.#bytes[this.#at++]!
    return readDouble(float, 0)
  }
}
