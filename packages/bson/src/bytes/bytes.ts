export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  const { length } = a
  if (length !== b.length) return false
  if (length > shortBytes) return Buffer.compare(a, b) === 0
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false
  return true
}

/** Up to this length a loop is faster than a call into the runtime. */
const shortBytes = 64

/** Works on any Uint8Array: creating a Buffer first costs more than the conversion. */
const { hexSlice } = Buffer.prototype as unknown as {
  readonly hexSlice: (this: Uint8Array, start: number, end: number) => string
}

export function hexOf(bytes: Uint8Array): string {
  return hexSlice.call(bytes, 0, bytes.length)
}
