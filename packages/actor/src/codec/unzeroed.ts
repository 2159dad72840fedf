/** Memory of its own, not zeroed before it is filled, unlike that of a new `Uint8Array`. */
export function unzeroed(lengthBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(lengthBytes).buffer)
}
