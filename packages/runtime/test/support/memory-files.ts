/** A file system in memory that can lose power, run out of space, and damage files. */
import type { Random } from '@shardlab/actor'
import type { FileSystem } from '../../src/disks/files/file-system.js'

const sectorBytes = 512

class Inode {
  #bytes = Buffer.alloc(0)
  /** What survives a power loss. */
  flushed = Buffer.alloc(0)
  /** Sectors of a failed flush: later ones leave them out until they are written again. */
  readonly #dropped = new Set<number>()
  failedFlushes = 0
  /** Part of the bytes that may differ from what is flushed. */
  #changed = { from: 0, to: 0 }

  get bytes(): Buffer<ArrayBuffer> {
    return this.#bytes
  }

  set bytes(bytes: Buffer<ArrayBuffer>) {
    this.#bytes = bytes
    this.#changed = { from: 0, to: Infinity }
  }

  written(position: number, length: number): void {
    const { from, to } = this.#changed
    this.#changed = { from: Math.min(from, position), to: Math.max(to, position + length) }
    for (let at = position - (position % sectorBytes); at < position + length; at += sectorBytes)
      this.#dropped.delete(at)
  }

  flush(): void {
    const { from, to } = this.#changed
    if (this.#dropped.size > 0) this.flushed = this.#onDisk(() => true)
    else if (this.flushed.length !== this.bytes.length) this.flushed = Buffer.from(this.bytes)
    else this.flushed.set(this.bytes.subarray(from, to), from)
    if (this.#dropped.size === 0) this.#changed = { from: this.bytes.length, to: 0 }
  }

  flushFailed(): void {
    this.failedFlushes++
    for (let at = 0; at < this.bytes.length; at += sectorBytes)
      if (!sectorOf(this.bytes, at).equals(sectorOf(this.flushed, at))) this.#dropped.add(at)
  }

  /** Any sectors that were not flushed are lost. */
  afterLoss(random: Random): Inode {
    const left = this.#onDisk(() => random.below(2) === 0)
    const inode = new Inode()
    inode.bytes = random.below(2) === 0 ? left : left.subarray(0, this.flushed.length)
    inode.flushed = Buffer.from(inode.bytes)
    return inode
  }

  #onDisk(isWritten: () => boolean): Buffer<ArrayBuffer> {
    const left = Buffer.alloc(this.bytes.length)
    left.set(this.flushed.subarray(0, left.length))
    for (let at = 0; at < left.length; at += sectorBytes)
      if (!this.#dropped.has(at) && isWritten()) left.set(sectorOf(this.bytes, at), at)
    return left
  }
}

function sectorOf(bytes: Buffer, at: number): Buffer {
  return bytes.subarray(at, at + sectorBytes)
}

type Entries = Map<string, Inode | Folder>

class Folder {
  entries: Entries = new Map()
  #flushed: Entries = new Map()
  #changes: ((entries: Entries) => void)[] = []

  change(change: (entries: Entries) => void): void {
    change(this.entries)
    this.#changes.push(change)
  }

  flush(): void {
    this.#flushed = new Map(this.entries)
    this.#changes = []
  }

  /** The last changes that were not flushed are lost. */
  afterLoss(random: Random): Folder {
    const left = new Map(this.#flushed)
    for (const change of this.#changes.slice(0, random.below(this.#changes.length + 1))) change(left)
    const folder = new Folder()
    folder.entries = new Map([...left].map(([name, entry]) => [name, entry.afterLoss(random)]))
    folder.flush()
    return folder
  }
}

export class MemoryFiles implements FileSystem {
  #root = new Folder()
  readonly #open = new Map<number, Inode | Folder>()
  /** By descriptor. As in Linux, each one that was open when a flush failed reports that once. */
  readonly #reportedFailures = new Map<number, number>()
  #lastFd = 2
  /** Null: power does not fail. */
  #callsUntilPowerFails: number | null = null
  capacityBytes = Number.POSITIVE_INFINITY
  freeMemoryBytes = Number.POSITIVE_INFINITY
  /** Errors of the next flushes. */
  readonly flushErrors: Error[] = []
  flushes = 0

  openSync(path: string, flags: string): number {
    this.#call()
    const fd = ++this.#lastFd
    const existing = this.#find(path)
    if (existing !== undefined) {
      if (flags === 'wx+') throw errorOf('EEXIST')
      if (flags === 'w+') (existing as Inode).bytes = Buffer.alloc(0)
      this.#open.set(fd, existing)
      this.#takeFailure(fd)
      return fd
    }
    if (flags.startsWith('r')) throw errorOf('ENOENT')
    const created = new Inode()
    this.#folder(parentOf(path)).change((entries) => entries.set(nameOf(path), created))
    this.#open.set(fd, created)
    return fd
  }

  closeSync(fd: number): void {
    if (!this.#open.delete(fd)) throw errorOf('EBADF')
  }

  readSync(fd: number, target: Uint8Array, offset: number, length: number, position: number): number {
    this.#call()
    const part = this.#inode(fd).bytes.subarray(position, position + length)
    target.set(part, offset)
    return part.length
  }

  writeSync(fd: number, bytes: Uint8Array, offset: number, length: number, position: number): number {
    this.#call()
    const inode = this.#inode(fd)
    const growth = Math.max(0, position + length - inode.bytes.length)
    const room = Math.max(0, this.capacityBytes - usedBytes(this.#root))
    const count = growth > room ? length - (growth - room) : length
    if (count <= 0) throw errorOf('ENOSPC')
    const end = position + count
    if (end > inode.bytes.length) inode.bytes = Buffer.concat([inode.bytes, Buffer.alloc(end - inode.bytes.length)])
    inode.bytes.set(bytes.subarray(offset, offset + count), position)
    inode.written(position, count)
    return count
  }

  ftruncateSync(fd: number, length: number): void {
    this.#call()
    const inode = this.#inode(fd)
    inode.bytes = Buffer.from(inode.bytes.subarray(0, length))
  }

  fsyncSync(fd: number): void {
    this.#call()
    const opened = this.#open.get(fd)
    if (opened === undefined) throw errorOf('EBADF')
    const error = this.flushErrors.shift()
    if (error !== undefined && opened instanceof Inode) opened.flushFailed()
    const hasFailed = this.#takeFailure(fd)
    if (error !== undefined) throw error
    if (hasFailed) throw errorOf('EIO')
    opened.flush()
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
    this.#call()
    return this.file(path).length
  }

  readFileSync(path: string): Uint8Array {
    this.#call()
    return this.file(path)
  }

  namesSync(folder: string): string[] {
    this.#call()
    return [...this.#folder(folder).entries.keys()]
  }

  mkdirSync(folder: string): void {
    this.#call()
    if (this.#find(folder) === undefined)
      this.#folder(parentOf(folder)).change((entries) => entries.set(nameOf(folder), new Folder()))
  }

  renameSync(from: string, to: string): void {
    this.#call()
    const entry = this.#find(from)
    if (entry === undefined) throw errorOf('ENOENT')
    const replaced = this.#find(to)
    if (replaced instanceof Folder && replaced.entries.size > 0) throw errorOf('ENOTEMPTY')
    if (parentOf(from) !== parentOf(to)) throw errorOf('EXDEV')
    this.#folder(parentOf(from)).change((entries) => {
      entries.delete(nameOf(from))
      entries.set(nameOf(to), entry)
    })
  }

  /** Of a folder, one entry after the other, as the system does. */
  removeSync(path: string): void {
    const entry = this.#find(path)
    if (entry instanceof Folder) for (const name of entry.entries.keys()) this.removeSync(`${path}/${name}`)
    this.#call()
    if (entry !== undefined) this.#folder(parentOf(path)).change((entries) => entries.delete(nameOf(path)))
  }

  freeBytesSync(): number {
    return Math.max(0, this.capacityBytes - usedBytes(this.#root))
  }

  freeMemorySync(): number {
    return this.freeMemoryBytes
  }

  /** @throws Error there is no such file */
  file(path: string): Buffer {
    const inode = this.#find(path)
    if (!(inode instanceof Inode)) throw errorOf('ENOENT')
    return inode.bytes
  }

  /** Replaces a file behind the back of its user. */
  damage(path: string, damaged: Uint8Array): void {
    const inode = this.#find(path) as Inode
    inode.bytes = Buffer.from(damaged)
    inode.written(0, damaged.length)
    inode.flush()
  }

  /** So many calls succeed, and all later ones fail until {@link losePower}. */
  failPowerAfter(calls: number): void {
    this.#callsUntilPowerFails = calls
  }

  get hasPowerFailed(): boolean {
    return this.#callsUntilPowerFails !== null && this.#callsUntilPowerFails < 0
  }

  /** Of each file, any sectors that were not flushed are lost; of each folder, its last changes. */
  losePower(random: Random): void {
    this.#callsUntilPowerFails = null
    // Open files of before write to the old ones.
    this.#root = this.#root.afterLoss(random)
  }

  /** Whether a flush has failed since the last call for this descriptor. */
  #takeFailure(fd: number): boolean {
    const opened = this.#open.get(fd)
    if (!(opened instanceof Inode)) return false
    const reported = this.#reportedFailures.get(fd) ?? 0
    this.#reportedFailures.set(fd, opened.failedFlushes)
    return opened.failedFlushes > reported
  }

  #call(): void {
    if (this.#callsUntilPowerFails === null) return
    if (this.#callsUntilPowerFails > 0) this.#callsUntilPowerFails--
    else {
      this.#callsUntilPowerFails = -1
      throw errorOf('no power')
    }
  }

  #find(path: string): Inode | Folder | undefined {
    let found: Inode | Folder | undefined = this.#root
    for (const name of path.split('/').filter((part) => part !== ''))
      found = found instanceof Folder ? found.entries.get(name) : undefined
    return found
  }

  #folder(path: string): Folder {
    const folder = this.#find(path)
    if (!(folder instanceof Folder)) throw errorOf('ENOENT')
    return folder
  }

  #inode(fd: number): Inode {
    const inode = this.#open.get(fd)
    if (!(inode instanceof Inode)) throw errorOf('EBADF')
    return inode
  }
}

function usedBytes({ entries }: Folder): number {
  let used = 0
  for (const entry of entries.values()) used += entry instanceof Folder ? usedBytes(entry) : entry.bytes.length
  return used
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

export function errorOf(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code })
}
