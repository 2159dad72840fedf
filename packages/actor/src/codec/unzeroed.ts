/** Has memory of its own which, unlike that of a new `Uint8Array`, is not zeroed. */
export function unzeroed(lengthBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(lengthBytes).buffer)
}
