/**
 * The directory of one server: `lock` says which process uses it, `server.json` whose data it has,
 * `processes.json` what it knows about other processes, and `members` has its files. Nothing is
 * flushed: data survives the end of the process, and not a power loss.
 */
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import type { Address } from '@shardlab/actor'
import {
  DiskDamagedError,
  DiskFolder,
  isNoSpace,
  readChecked,
  unflushedFileSystem,
  writeChecked,
  type DirectoryContent,
  type DirectoryStore,
} from '@shardlab/runtime'
import type { EmulatedVersion } from '@shardlab/sharding'
import { checkMemory, formatVersion } from '../durable/data-directory.js'
import { lockDirectory } from '../durable/directory-lock.js'
import { serverManifestName } from '../durable/server-manifest-name.js'
import { OptionError } from '../option-error.js'
import { directoryError, ServerDirectoryError } from './server-directory-error.js'
import type { EmulatedServerOptions } from './server-options.js'

type StoredRole = Exclude<EmulatedServerOptions['role'], 'mongos'>

/** Whose data a directory has. */
interface Manifest {
  readonly format: number
  readonly emulate: EmulatedVersion
  readonly role: StoredRole
  /** Null: of a standalone server. */
  readonly setName: string | null
}

export interface ServerDirectoryOptions extends Omit<Manifest, 'format'> {
  readonly path: string
  /** False: the directory is only locked. */
  readonly storesData: boolean
}

const files = unflushedFileSystem
const processesName = 'processes.json'
/** As on the server, so that other programs find the number of the process. */
const pidFileName = 'mongod.lock'

/** The disk of a member is the same on every port. */
const dataName: Address = 'data'
const localName: Address = 'local'

export class ServerDirectory implements DirectoryStore {
  /** Null: data is in memory. */
  readonly disks: DiskFolder | null
  readonly #path: string
  readonly #unlock: () => void

  private constructor(options: ServerDirectoryOptions, local: Address, unlock: () => void) {
    const { path } = options
    this.#path = path
    this.#unlock = unlock
    const stored = readManifest(path)
    if (stored !== undefined) checkManifest(stored, options)
    writeFileSync(`${path}/${pidFileName}`, `${process.pid}\n`)
    if (!options.storesData) {
      this.disks = null
      return
    }
    const { emulate, role, setName } = options
    const manifest: Manifest = { format: formatVersion, emulate, role, setName }
    if (JSON.stringify(stored) !== JSON.stringify(manifest)) writeChecked(files, path, serverManifestName, manifest)
    this.disks = new DiskFolder(path, files, (address) => (address === local ? localName : dataName))
    checkMemory(path, this.disks.sizeBytes(), process.availableMemory())
  }

  /**
   * @param local the member with the collections that are not replicated
   * @throws ServerDirectoryError
   */
  static open(options: ServerDirectoryOptions, local: Address): ServerDirectory {
    const { path } = options
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new ServerDirectoryError('missing', `${path} does not exist`)
    let unlock = (): void => {}
    try {
      unlock = lockOf(path)
      return new ServerDirectory(options, local, unlock)
    } catch (error) {
      unlock()
      // It needs more memory than there is.
      if (error instanceof OptionError) throw new ServerDirectoryError('damaged', error.message)
      throw directoryError(path, error)
    }
  }

  /** Whether there is data that is not replicated. */
  get hasLocal(): boolean {
    return this.disks?.stored().some(({ address }) => address === localName) === true
  }

  load(): DirectoryContent | undefined {
    return this.disks === null
      ? undefined
      : (readChecked(files, this.#path, processesName) as DirectoryContent | undefined)
  }

  save(content: DirectoryContent): void {
    if (this.disks === null) return
    try {
      writeChecked(files, this.#path, processesName, content)
    } catch (error) {
      // The next change saves it again.
      if (!isNoSpace(error)) throw error
    }
  }

  /** As the server, which leaves an empty file when it ends in order. */
  close(): void {
    // Test harnesses may have removed the directory.
    if (existsSync(this.#path)) writeFileSync(`${this.#path}/${pidFileName}`, '')
    this.#unlock()
  }
}

/** @throws ServerDirectoryError another process uses it */
function lockOf(path: string): () => void {
  try {
    return lockDirectory(path)
  } catch (error) {
    if (error instanceof OptionError) throw new ServerDirectoryError('in-use', error.message)
    throw error
  }
}

/** Undefined: there is no data. @throws ServerDirectoryError, DiskDamagedError */
function readManifest(path: string): Manifest | undefined {
  const manifest = readChecked(files, path, serverManifestName) as Manifest | undefined
  if (manifest !== undefined) return manifest
  const names = readdirSync(path)
  const isOfServer = names.some((name) => name === 'storage.bson' || name.startsWith('WiredTiger'))
  if (isOfServer || names.includes('cluster.json')) {
    const what = isOfServer ? 'data of MongoDB itself' : 'a cluster of `shardlab up`'
    throw new ServerDirectoryError('other-data', `${path} holds ${what}: choose another directory.`)
  }
  if (names.includes('members.json'))
    throw new DiskDamagedError(`${path}/${serverManifestName}`, null, 'the file is missing')
  return undefined
}

/** @throws ServerDirectoryError the data is not of this server */
function checkManifest(stored: Manifest, { path, storesData, emulate, role, setName }: ServerDirectoryOptions): void {
  if (stored.format !== formatVersion)
    throw new ServerDirectoryError(
      'other-version',
      `${path} has version ${stored.format} of the format, and this Shardlab reads version ${formatVersion}: use the release that wrote it.`,
    )
  if (stored.emulate !== emulate)
    throw new ServerDirectoryError(
      'other-version',
      `${path} holds data of MongoDB ${stored.emulate}, and this server emulates ${emulate}: start it with SHARDLAB_EMULATE=${stored.emulate}, or choose another directory.`,
    )
  if (!storesData) throw new ServerDirectoryError('other-engine', `${path} holds data`)
  if (!becomes(stored, { role, setName }))
    throw new ServerDirectoryError(
      'other-data',
      `${path} holds data of ${described(stored)}, and this is ${described({ role, setName })}: start it with the former options, or choose another directory.`,
    )
}

type Part = Pick<Manifest, 'role' | 'setName'>

/** A standalone server can become a member of a set, and that one a shard. */
function becomes(stored: Part, now: Part): boolean {
  const isSameSet = stored.setName === now.setName || (stored.setName === null && now.role !== 'config-server')
  return isSameSet && (stored.role === now.role || (stored.role === 'mongod' && now.role === 'shard'))
}

function described({ role, setName }: Part): string {
  if (setName === null) return 'a standalone server'
  return `a ${role === 'mongod' ? 'member' : role.replace('-', ' ')} of the replica set ${setName}`
}
