/** CRC-32C bit by bit, without the table of the package under test. */
export function checksumOf(bytes: Uint8Array): number {
  let crc = 0xffff_ffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0x82f6_3b78 & -(crc & 1))
  }
  return (crc ^ 0xffff_ffff) >>> 0
}
