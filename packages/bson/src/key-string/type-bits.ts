/** What a {@link ServerKeyString} leaves open. Server: `TypeBits` of key_string.h, version 1. */
const exponentBias = 6176
const biasedExponentMax = 12_287
const decimalZeros = 0b11010
const negativeDoubleZero = 0b11000

export class TypeBits {
  readonly #bits: number[] = []

  string(isSymbol: boolean): void {
    this.#bits.push(isSymbol ? 1 : 0)
  }

  int32(): void {
    this.#append(0b00, 2)
  }

  int64(): void {
    this.#append(0b01, 2)
  }

  double(): void {
    this.#append(0b10, 2)
  }

  decimal(): void {
    this.#append(0b11, 2)
  }

  negativeZero(): void {
    this.#append(negativeDoubleZero, 5)
  }

  decimalZero(exponent: number, isNegative: boolean): void {
    const which = exponent + exponentBias + (isNegative ? biasedExponentMax + 1 : 0)
    this.#append(decimalZeros + (which >> 12), 5)
    this.#append(which & 0xfff, 12)
  }

  decimalExponent(exponent: number): void {
    this.#append((exponent + exponentBias) & 0x3f, 6)
  }

  /** Null: all are zero, and they are left out. */
  bytes(): Uint8Array | null {
    if (!this.#bits.includes(1)) return null
    const data = new Uint8Array(Math.ceil(this.#bits.length / 8))
    this.#bits.forEach((bit, i) => {
      data[i >> 3]! |= bit << (i & 7)
    })
    // One byte that is not a size stands for itself.
    if (data.length === 1 && data[0]! < 0x80) return data
    if (data.length <= 0x7f) return Uint8Array.from([0x80 | data.length, ...data])
    const size = new DataView(new ArrayBuffer(5))
    size.setUint8(0, 0x80)
    size.setUint32(1, data.length, true)
    return Buffer.concat([new Uint8Array(size.buffer), data])
  }

  #append(value: number, count: number): void {
    for (let bit = count - 1; bit >= 0; bit--) this.#bits.push((value >> bit) & 1)
  }
}
