/** A file system in memory that can lose power, run out of space, and damage files. */
import type { Random } from '@shardlab/actor'
import type { FileSystem } from '../../src/disks/files/file-system.js'

const sectorBytes = 512

class Inode {
  bytes = Buffer.alloc(0)
  /** What survives a power loss. */
  flushed = Buffer.alloc(0)
}

type Entries = Map<string, Inode>

export class MemoryFiles implements FileSystem {
  /** One folder, `/`. Names of files. */
  #entries: Entries = new Map()
  #flushedEntries: Entries = new Map()
  #changes: ((entries: Entries) => void)[] = []
  readonly #open = new Map<number, Inode | null>()
  #lastFd = 2
  capacityBytes = Number.POSITIVE_INFINITY
  freeMemoryBytes = Number.POSITIVE_INFINITY
  /** Errors of the next flushes. */
  readonly flushErrors: Error[] = []
  flushes = 0

  openSync(path: string, flags: string): number {
    const fd = ++this.#lastFd
    const name = nameOf(path)
    if (name === '') {
      this.#open.set(fd, null)
      return fd
    }
    let inode = this.#entries.get(name)
    if (inode === undefined) {
      if (flags.startsWith('r')) throw errorOf('ENOENT')
      const created = new Inode()
      inode = created
      this.#change((entries) => entries.set(name, created))
    } else if (flags === 'wx+') throw errorOf('EEXIST')
    else if (flags === 'w+') inode.bytes = Buffer.alloc(0)
    this.#open.set(fd, inode)
    return fd
  }

  closeSync(fd: number): void {
    if (!this.#open.delete(fd)) throw errorOf('EBADF')
  }

  readSync(fd: number, target: Uint8Array, offset: number, length: number, position: number): number {
    const part = this.#inode(fd).bytes.subarray(position, position + length)
    target.set(part, offset)
    return part.length
  }

  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    const inode = this.#inode(fd)
    const growth = Math.max(0, position + length - inode.bytes.length)
    const room = Math.max(0, this.capacityBytes - this.#usedBytes())
    const count = growth > room ? length - (growth - room) : length
    if (count <= 0) throw errorOf('ENOSPC')
    const end = position + count
    if (end > inode.bytes.length) inode.bytes = Buffer.concat([inode.bytes, Buffer.alloc(end - inode.bytes.length)])
    inode.bytes.set(bytes.subarray(offset, offset + count), position)
    return count
  }

  ftruncateSync(fd: number, length: number): void {
    const inode = this.#inode(fd)
    inode.bytes = Buffer.from(inode.bytes.subarray(0, length))
  }

  fsyncSync(fd: number): void {
    const error = this.flushErrors.shift()
    if (error !== undefined) throw error
    const inode = this.#open.get(fd)
    if (inode === undefined) throw errorOf('EBADF')
    if (inode === null) {
      this.#flushedEntries = new Map(this.#entries)
      this.#changes = []
    } else inode.flushed = Buffer.from(inode.bytes)
    this.flushes++
  }

  fdatasync(fd: number, done: (error: Error | null) => void): void {
    setImmediate(() => {
      try {
        this.fsyncSync(fd)
      } catch (error) {
        return done(error as Error)
      }
      done(null)
    })
  }

  write(fd: number, bytes: Uint8Array, position: number, done: (error: Error | null, written: number) => void): void {
    setImmediate(() => {
      let count: number
      try {
        count = this.writeSync(fd, bytes, 0, bytes.length, position)
      } catch (error) {
        return done(error as Error, 0)
      }
      done(null, count)
    })
  }

  sizeSync(path: string): number {
    return this.file(nameOf(path)).length
  }

  readFileSync(path: string): Uint8Array {
    return this.file(nameOf(path))
  }

  namesSync(): string[] {
    return [...this.#entries.keys()]
  }

  mkdirSync(): void {}

  renameSync(from: string, to: string): void {
    const inode = this.#entries.get(nameOf(from))
    if (inode === undefined) throw errorOf('ENOENT')
    this.#change((entries) => {
      entries.delete(nameOf(from))
      entries.set(nameOf(to), inode)
    })
  }

  removeSync(path: string): void {
    if (this.#entries.has(nameOf(path))) this.#change((entries) => entries.delete(nameOf(path)))
  }

  freeBytesSync(): number {
    return Math.max(0, this.capacityBytes - this.#usedBytes())
  }

  /** @throws Error there is no such file */
  file(name: string): Buffer {
    const inode = this.#entries.get(name)
    if (inode === undefined) throw errorOf('ENOENT')
    return inode.bytes
  }

  /** Replaces a file behind the back of its user. */
  damage(name: string, damaged: Uint8Array): void {
    const inode = this.#entries.get(name)!
    inode.bytes = Buffer.from(damaged)
    inode.flushed = Buffer.from(damaged)
  }

  freeMemorySync(): number {
    return this.freeMemoryBytes
  }

  /** Of each file, any sectors that were not flushed are lost; of the folder, its last changes. */
  losePower(random: Random): void {
    const entries = new Map(this.#flushedEntries)
    for (const change of this.#changes.slice(0, random.below(this.#changes.length + 1))) change(entries)
    // Open files of before write to the old ones.
    this.#entries = new Map([...entries].map(([name, inode]) => [name, afterLoss(inode, random)]))
    this.#flushedEntries = new Map(this.#entries)
    this.#changes = []
  }

  #change(change: (entries: Entries) => void): void {
    change(this.#entries)
    this.#changes.push(change)
  }

  #usedBytes(): number {
    let used = 0
    for (const { bytes } of this.#entries.values()) used += bytes.length
    return used
  }

  #inode(fd: number): Inode {
    const inode = this.#open.get(fd)
    if (inode === undefined || inode === null) throw errorOf('EBADF')
    return inode
  }
}

function afterLoss({ bytes, flushed }: Inode, random: Random): Inode {
  const length = random.below(2) === 0 ? bytes.length : flushed.length
  const left = Buffer.alloc(length)
  left.set(flushed.subarray(0, length))
  for (let at = 0; at < length; at += sectorBytes)
    if (random.below(2) === 0) left.set(bytes.subarray(at, Math.min(at + sectorBytes, length)), at)
  const inode = new Inode()
  inode.bytes = left
  inode.flushed = Buffer.from(left)
  return inode
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function errorOf(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code })
}
