import { createRequire } from 'node:module'
import { deflateSync, inflateSync } from 'node:zlib'
import { CompressorId, type Compressor } from '@shardlab/wire'

/** Above zlib's highest ratio, 1032. */
const zlibMaxRatio = 1100
const zlibMinChunkBytes = 64

/** Above Snappy's highest ratio: a copy of three bytes gives 64. */
const snappyMaxRatio = 32

const zlib: Compressor = {
  id: CompressorId.zlib,
  compress: (bytes) => deflateSync(bytes),
  uncompress(bytes, sizeBytes) {
    if (sizeBytes > bytes.length * zlibMaxRatio) throw new Error('the announced size is impossible')
    // One output, instead of one for each 16 KiB, which would be joined. A byte more than announced
    // shows that there is no further one.
    const chunkSize = Math.max(zlibMinChunkBytes, sizeBytes + 1)
    return inflateSync(bytes, { maxOutputLength: Math.max(1, sizeBytes), chunkSize })
  },
}

let snappy: Compressor | undefined

/** Loaded on first use, because most clients never need it. */
function loadSnappy(): Compressor {
  const library = withoutDelayedPurge(() => createRequire(import.meta.url)('snappy') as typeof import('snappy'))
  return {
    id: CompressorId.snappy,
    compress: (bytes) => library.compressSync(bytes),
    uncompress(bytes, sizeBytes) {
      // The library allocates the announced size, so check it first.
      if (announcedSnappySize(bytes) !== sizeBytes)
        throw new Error('the sizes of the message and of its content differ')
      if (sizeBytes > bytes.length * snappyMaxRatio) throw new Error('the announced size is impossible')
      return library.uncompressSync(bytes, { asBuffer: true }) as Buffer
    },
  }
}

/**
 * The library's allocator would keep the memory of the largest message until its next call. It
 * reads the setting when it is loaded, and not from the copied environment of a worker.
 */
function withoutDelayedPurge<T>(load: () => T): T {
  const before = process.env[purgeDelay]
  process.env[purgeDelay] = before ?? '0'
  try {
    return load()
  } finally {
    if (before === undefined) delete process.env[purgeDelay]
  }
}

const purgeDelay = 'MIMALLOC_PURGE_DELAY'

/** The length at the beginning of Snappy data, seven bits a byte; NaN: malformed. */
function announcedSnappySize(bytes: Uint8Array): number {
  let size = 0
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at]
    if (byte === undefined) break
    size += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return size
  }
  return Number.NaN
}

export function findCompressor(id: number): Compressor | undefined {
  switch (id) {
    case CompressorId.snappy:
      return (snappy ??= loadSnappy())
    case CompressorId.zlib:
      return zlib
    default:
      return undefined
  }
}
