/** Do both have the same bytes? */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  const { length } = a
  if (length !== b.length) return false
  if (length > shortBytes) return Buffer.compare(a, b) === 0
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Up to this length a loop beats the call into the runtime. */
const shortBytes = 64

/** As a function of any array of bytes: making a Buffer of it costs more than the digits. */
const { hexSlice } = Buffer.prototype as unknown as {
  readonly hexSlice: (this: Uint8Array, start: number, end: number) => string
}

/** Bytes as hexadecimal digits, small letters. */
export function hexOf(bytes: Uint8Array): string {
  return hexSlice.call(bytes, 0, bytes.length)
}
