/** CRC-32C (Castagnoli, reflected), the checksum of OP_MSG. */
const table = new Uint32Array(256)
for (let byte = 0; byte < 256; byte++) {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  table[byte] = value
}

export function crc32c(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let crc = -1
  for (let at = start; at < end; at++) crc = table[(crc ^ bytes[at]!) & 0xff]! ^ (crc >>> 8)
  return ~crc >>> 0
}
