/**
 * A snapshot file contains what a cluster keeps when all its members are restarted: their disks and
 * addresses, the options and a manual clock. Other state of the members is left out, so that files
 * stay readable when its form changes.
 *
 * Format: a line of text with the number of the format and the version that wrote the file; the
 * length of the header, 4 bytes, little-endian; the header, msgpack; for each member its checkpoint
 * and the records of its log, whose lengths are in the header; the SHA-256 of everything before it.
 */
import { writeInt32 } from '@shardlab/bson'
import { MemoryDisk, type MemberCopy, type WorldCopy } from '@shardlab/runtime'
import { Packr, Unpackr } from 'msgpackr'
import { createHash, randomBytes, type Hash } from 'node:crypto'
import { open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { OptionError } from '../option-error.js'
import { version } from '../version.js'
import type { SnapshotContent } from './snapshot-content.js'

// Without records: any msgpack reader reads the header.
const packr = new Packr({ useRecords: false })
const unpackr = new Unpackr({ useRecords: false })

/** Increase it if older code cannot read new files. */
const formatVersion = 4
const firstLine = `shardlab snapshot, format ${formatVersion}, by version ${version}\n`
const firstLinePattern = /^shardlab snapshot, format (\d+), by version (\S+)\n/
const firstLineBytesMax = 100
const checksumBytes = 32

interface MemberHeader {
  readonly spec: MemberCopy['spec']
  readonly state: MemberCopy['state']
  readonly incarnation: number
  readonly endpoint: string
  readonly isUp: boolean
  /** null: the disk has no checkpoint. */
  readonly checkpointBytes: number | null
  readonly recordBytes: readonly number[]
}

interface Header {
  readonly id: string
  readonly takenAtMs: number
  readonly options: SnapshotContent['options']
  readonly nowMicros: number | null
  readonly members: readonly MemberHeader[]
}

export interface LoadedSnapshot {
  readonly content: SnapshotContent
  readonly takenAtMs: number
}

/**
 * Writes a temporary file in the same directory and renames it when it is complete, replacing an
 * existing file.
 * @throws OptionError if the file cannot be written
 */
export async function saveSnapshot(
  path: string,
  { id, world, options }: SnapshotContent,
  takenAtMs: number,
): Promise<void> {
  const parts: Uint8Array[] = []
  const members = world.members.map((member): MemberHeader => {
    const { spec, state, incarnation, endpoint, actor } = member
    const { checkpoint, records } = contentsOf(member)
    if (checkpoint !== null) parts.push(checkpoint)
    parts.push(...records)
    return {
      ...{ spec, state, incarnation, endpoint, isUp: actor !== null, checkpointBytes: checkpoint?.length ?? null },
      recordBytes: records.map(({ length }) => length),
    }
  })
  const header: Header = { id, takenAtMs, options, nowMicros: world.nowMicros, members }
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`
  try {
    const file = await open(temporary, 'wx')
    try {
      await writeAll(file, header, parts)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw new OptionError(`the snapshot cannot be written to ${path}: ${(error as Error).message}.`)
  }
}

/** The member's disk, with the applied but unwritten entries if the disk has room for them. */
function contentsOf({ disk, actor }: MemberCopy): {
  readonly checkpoint: Uint8Array | null
  readonly records: readonly Uint8Array[]
} {
  const { checkpoint, records } = disk.read()
  const unwritten = unwrittenOf(actor?.state)
  const bytes = Buffer.concat(unwritten)
  return {
    checkpoint,
    records: unwritten.length > 0 && disk.hasRoom(bytes.length) ? [...records, bytes] : [...records],
  }
}

interface NestedState {
  readonly node?: unknown
  /** Of a member of a set. */
  readonly role?: unknown
  readonly unwritten?: readonly Uint8Array[]
}

/** Only storage nodes have such entries. */
function unwrittenOf(state: unknown): readonly Uint8Array[] {
  const { node, role, unwritten } = (state ?? {}) as NestedState
  const inner = node ?? role
  return inner === undefined ? (unwritten ?? []) : unwrittenOf(inner)
}

async function writeAll(file: FileHandle, header: Header, parts: readonly Uint8Array[]): Promise<void> {
  const hash = createHash('sha256')
  const packed = packr.pack(header)
  const length = Buffer.alloc(4)
  writeInt32(length, 0, packed.length)
  for (const bytes of [Buffer.from(firstLine), length, packed, ...parts]) {
    hash.update(bytes)
    await file.writeFile(bytes)
  }
  await file.writeFile(hash.digest())
}

/**
 * @throws OptionError the file is missing, truncated, damaged, of another format, or not a snapshot
 */
export async function loadSnapshot(path: string): Promise<LoadedSnapshot> {
  let file: FileHandle
  try {
    file = await open(path, 'r')
  } catch (error) {
    throw unreadable(path, error as Error)
  }
  try {
    return await new SnapshotReader(path, file, (await file.stat()).size).read()
  } catch (error) {
    // A damaged header can be valid JSON; the checksum is read only after the parts that the header
    // describes.
    if (error instanceof TypeError || error instanceof RangeError) throw damaged(path)
    // A directory can be opened, but not read.
    throw error instanceof OptionError ? error : unreadable(path, error as Error)
  } finally {
    await file.close()
  }
}

class SnapshotReader {
  readonly #path: string
  readonly #file: FileHandle
  readonly #sizeBytes: number
  readonly #hash: Hash = createHash('sha256')
  #at = 0

  constructor(path: string, file: FileHandle, sizeBytes: number) {
    this.#path = path
    this.#file = file
    this.#sizeBytes = sizeBytes
  }

  async read(): Promise<LoadedSnapshot> {
    await this.#readFirstLine()
    const header = await this.#readHeader()
    const { id, options, nowMicros, takenAtMs } = header
    const members: MemberCopy[] = []
    for (const member of header.members) members.push(await this.#readMember(member))
    const checksum = this.#hash.copy().digest()
    if (!checksum.equals(await this.#next(checksumBytes)) || this.#at !== this.#sizeBytes) throw this.#damaged()
    const world: WorldCopy = { nowMicros, members }
    return { content: { id, world, options, isFromFile: true }, takenAtMs }
  }

  async #readFirstLine(): Promise<void> {
    const start = Buffer.alloc(Math.min(this.#sizeBytes, firstLineBytesMax))
    await this.#file.read(start, 0, start.length, 0)
    const line = firstLinePattern.exec(start.toString('latin1'))
    if (line === null) throw new OptionError(`${this.#path} is not a snapshot of a cluster.`)
    const [all, format, writer] = line
    if (Number(format) !== formatVersion)
      throw new OptionError(
        `${this.#path} has the snapshot format ${format} of shardlab ${writer}; version ${version} reads format ${formatVersion}: take the snapshot again with this version.`,
      )
    await this.#next(all.length)
  }

  async #readHeader(): Promise<Header> {
    const length = (await this.#next(4)).readUInt32LE()
    const packed = await this.#next(length)
    try {
      return unpackr.unpack(packed) as Header
    } catch {
      throw this.#damaged()
    }
  }

  async #readMember({
    spec,
    state,
    incarnation,
    endpoint,
    isUp,
    checkpointBytes,
    recordBytes,
  }: MemberHeader): Promise<MemberCopy> {
    const disk = new MemoryDisk(spec.diskLimitBytes)
    if (checkpointBytes !== null) await disk.writeCheckpoint(await this.#next(checkpointBytes))
    for (const length of recordBytes) await disk.append(await this.#next(length))
    // Without state: the member starts on its disk.
    return { spec, state, incarnation, endpoint, disk, actor: isUp ? { state: undefined, timers: [] } : null }
  }

  /** @throws OptionError if the file ends before */
  async #next(length: number): Promise<Buffer> {
    if (this.#at + length > this.#sizeBytes)
      throw new OptionError(
        `${this.#path} is truncated or damaged: it ends after ${this.#sizeBytes} bytes, before the end of the snapshot.`,
      )
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let done = 0; done < length;) {
      const { bytesRead } = await this.#file.read(bytes, done, length - done, this.#at + done)
      if (bytesRead === 0) throw this.#damaged()
      done += bytesRead
    }
    this.#at += length
    this.#hash.update(bytes)
    return bytes
  }

  #damaged(): OptionError {
    return damaged(this.#path)
  }
}

function unreadable(path: string, { message }: Error): OptionError {
  return new OptionError(`the snapshot ${path} cannot be read: ${message}.`)
}

function damaged(path: string): OptionError {
  return new OptionError(`${path} is damaged: its contents do not match its checksum.`)
}
