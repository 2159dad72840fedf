/** What is used of it. Its types belong to the library of browsers. */
declare const WebAssembly:
  | { Memory: new (pages: { initial: number; maximum: number }) => { readonly buffer: ArrayBuffer } }
  | undefined

/** What WebAssembly calls a page. */
const pageBytes = 64 * 1024

let isPossible = true

/**
 * Memory that the operating system maps, and takes back as soon as the buffer is collected. The C
 * library would keep a freed block of this size while any block after it is in use: after many
 * collections have come and gone, several times the memory in use.
 *
 * Memory of WebAssembly is the only kind that V8 maps and whose bytes are as fast as those of other
 * buffers. To transfer it to another thread copies it. Each buffer takes 10 GB of address space, so
 * after some 12,000 of them the C library serves the rest.
 * @param lengthBytes is rounded up to whole pages of 64 KB inside; the buffer has this length
 */
export function mappedBuffer(lengthBytes: number): Buffer {
  if (isPossible && WebAssembly !== undefined) {
    const pages = Math.ceil(lengthBytes / pageBytes)
    try {
      return Buffer.from(new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer, 0, lengthBytes)
    } catch {
      // Each further attempt would collect all garbage first.
      isPossible = false
    }
  }
  return Buffer.allocUnsafeSlow(lengthBytes)
}
