/**
 * Whether the file system has space, and the process memory, as all data is in memory, too. Without
 * a call of the system for each write.
 */
import type { FileSystem } from './file-system.js'

/** While more than this is free, only every so many written bytes are checked. */
const plentyBytes = 256 * 1024 * 1024
const checkEveryBytes = 16 * 1024 * 1024
const checkEveryMs = 100
/**
 * Upper bound of the free space that a write requires: the caller's reserve may be larger than what
 * the file system has left.
 */
const spareBytesMax = 32 * 1024 * 1024
const probeBytes = 256 * 1024
/** The system ends a process that uses the last of it. */
const spareMemoryBytes = 128 * 1024 * 1024

export class FreeSpace {
  readonly #files: FileSystem
  readonly #folder: string
  #freeBytes = -1
  #usedSince = 0
  #checkedAtMs = 0
  /** A write was refused since the last one that succeeded. */
  #isFull = false
  #hasMemory = true

  constructor(files: FileSystem, folder: string) {
    this.#files = files
    this.#folder = folder
  }

  get isFull(): boolean {
    return this.#isFull || !this.#hasMemory
  }

  used(bytes: number): void {
    this.#usedSince += bytes
    this.#isFull = false
  }

  wasRefused(): void {
    this.#isFull = true
    this.#checkedAtMs = performance.now()
  }

  /** Files were removed. */
  released(): void {
    this.#freeBytes = -1
    this.#checkedAtMs = 0
  }

  /** @param probe whether so many bytes can be written: quotas do not show in the free space */
  has(bytes: number, probe: (bytes: number) => boolean): boolean {
    this.#check(probe)
    return this.#hasMemory && !this.#isFull && this.#freeBytes - this.#usedSince >= Math.min(bytes, spareBytesMax)
  }

  #check(probe: (bytes: number) => boolean): void {
    const isPlenty = !this.isFull && this.#freeBytes - this.#usedSince > plentyBytes
    if (isPlenty && this.#usedSince < checkEveryBytes) return
    const nowMs = performance.now()
    if (this.#freeBytes >= 0 && !isPlenty && nowMs - this.#checkedAtMs < checkEveryMs) return
    this.#checkedAtMs = nowMs
    this.#freeBytes = this.#files.freeBytesSync(this.#folder)
    this.#usedSince = 0
    this.#hasMemory = this.#files.freeMemorySync() > spareMemoryBytes
    if (this.#isFull && this.#freeBytes > probeBytes) this.#isFull = !probe(probeBytes)
  }
}
