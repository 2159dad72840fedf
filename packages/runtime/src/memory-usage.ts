/** Memory of one thread. */
export interface ThreadMemory {
  /** The caller's own thread is 0. */
  readonly threadId: number
  /** Reserved for JavaScript objects; garbage that was not collected yet is part of it. */
  readonly heapBytes: number
  readonly heapUsedBytes: number
  /** Documents, messages and other bytes outside of the heap; garbage is part of it, too. */
  readonly bufferBytes: number
}

export interface MemoryUsage {
  /** Of the whole process, as the operating system counts it. */
  readonly residentBytes: number
  readonly threads: readonly ThreadMemory[]
  /** Memory of disks that all threads share. 0 in worlds of one thread, whose disks are buffers. */
  readonly sharedDiskBytes: number
}

export function threadMemory(threadId: number): ThreadMemory {
  const { heapTotal, heapUsed, arrayBuffers } = process.memoryUsage()
  return { threadId, heapBytes: heapTotal, heapUsedBytes: heapUsed, bufferBytes: arrayBuffers }
}
