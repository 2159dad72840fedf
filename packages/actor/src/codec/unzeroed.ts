/** An array with memory of its own that is not zeroed, unlike that of a new `Uint8Array`. */
export function unzeroed(lengthBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(lengthBytes).buffer)
}
