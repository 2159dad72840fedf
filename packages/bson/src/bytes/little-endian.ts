/** These functions do not check bounds. */
const scratch = new ArrayBuffer(8)
const scratchBytes = new Uint8Array(scratch)
const scratchDouble = new Float64Array(scratch)

export function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
}

export function readUint32(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at) >>> 0
}

export function readDouble(bytes: Uint8Array, at: number): number {
  for (let i = 0; i < 8; i++) scratchBytes[i] = bytes[at + i]!
  return scratchDouble[0]!
}

export function readInt64(bytes: Uint8Array, at: number): bigint {
  return (BigInt(readInt32(bytes, at + 4)) << 32n) | BigInt(readUint32(bytes, at))
}

/** The nearest double: exact up to 2^53. Both summands are exact, so only the sum is rounded. */
export function readInt64Number(bytes: Uint8Array, at: number): number {
  return readInt32(bytes, at + 4) * 0x1_0000_0000 + readUint32(bytes, at)
}

export function writeInt32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >> 8
  bytes[at + 2] = value >> 16
  bytes[at + 3] = value >> 24
}

export function writeDouble(bytes: Uint8Array, at: number, value: number): void {
  scratchDouble[0] = value
  for (let i = 0; i < 8; i++) bytes[at + i] = scratchBytes[i]!
}

export function writeInt64(bytes: Uint8Array, at: number, value: bigint): void {
  writeInt32(bytes, at, Number(value & 0xffff_ffffn))
  writeInt32(bytes, at + 4, Number((value >> 32n) & 0xffff_ffffn))
}

/** @throws RangeError for a number that is not an integer */
export function writeInt64Number(bytes: Uint8Array, at: number, value: number): void {
  if (!Number.isSafeInteger(value)) {
    writeInt64(bytes, at, BigInt(value))
    return
  }
  writeInt32(bytes, at, value | 0)
  writeInt32(bytes, at + 4, Math.floor(value / 0x1_0000_0000))
}
