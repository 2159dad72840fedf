/**
 * The directory of the option `dbPath`: `cluster.json` says which cluster it holds, `lock` which
 * process uses it, `members.json` which members it has, and `members` has their files.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  DiskDamagedError,
  DiskFolder,
  makeFolder,
  readChecked,
  realFileSystem,
  writeChecked,
  type StoredMember,
} from '@shardlab/runtime'
import { readableSize } from '@shardlab/quantities'
import { explained } from '../listen-error.js'
import { OptionError } from '../option-error.js'
import type { ClusterOptions } from '../options.js'
import { resolveOptions } from '../resolve-options.js'
import { resolveDbPath } from './db-path.js'
import type { ResolvedOptions } from '../resolved-options.js'
import { lockDirectory } from './directory-lock.js'
import { serverManifestName } from './server-manifest-name.js'
import { determinedBy, optionsOfDirectory, type DeterminedOptions } from './directory-options.js'

const manifestName = 'cluster.json'
/** Of the disks, too. */
export const formatVersion = 2

interface Manifest {
  readonly format: number
  /** How often a cluster was started with this data. 0: the first start was not completed. */
  readonly starts: number
  readonly options: DeterminedOptions
}

export class DataDirectory {
  readonly options: ResolvedOptions
  readonly disks: DiskFolder
  readonly #path: string
  readonly #starts: number
  readonly #unlock: () => void

  private constructor(path: string, given: ClusterOptions, unlock: () => void) {
    this.#path = path
    this.#unlock = unlock
    const manifest = readManifest(path)
    this.#starts = manifest?.starts ?? 0
    this.options =
      this.#starts === 0 ? resolveOptions(given) : optionsOfDirectory(given, manifest!.options, given.dbPath!)
    if (manifest?.starts === 0) DiskFolder.remove(path)
    if (this.#starts === 0) this.#write(0)
    this.disks = new DiskFolder(path)
    if (this.#starts > 0 && this.disks.stored().length === 0)
      throw new DiskDamagedError(`${path}/members`, null, 'it has no member')
    checkMemory(path, this.disks.sizeBytes(), process.availableMemory())
    // Before a member runs: a start that is not completed has drawn ids, too.
    if (this.#starts > 0) this.#write(this.#starts + 1)
  }

  /**
   * Makes the directory if it is missing.
   * @throws OptionError another process uses it, it is damaged, or an option contradicts its data
   */
  static open(given: ClusterOptions): DataDirectory {
    // Before anything is created.
    resolveOptions({ dbPath: given.dbPath! })
    const path = resolve(given.dbPath!)
    makeDirectory(path)
    let unlock = (): void => {}
    try {
      unlock = lockDirectory(path)
      return new DataDirectory(path, given, unlock)
    } catch (error) {
      unlock()
      throw explainedOf(path, error)
    }
  }

  /** The members that the cluster had; empty: it is a new one. */
  get members(): readonly StoredMember[] {
    return this.#starts === 0 ? [] : this.disks.stored()
  }

  /** Each start has other generators: ids that the data has are not drawn again. */
  get seed(): number | string {
    return this.#starts === 0 ? this.options.seed : `${this.options.seed} start ${this.#starts}`
  }

  /** The cluster answers clients. */
  started(): void {
    if (this.#starts === 0) this.#write(1)
  }

  #write(starts: number): void {
    const manifest: Manifest = { format: formatVersion, starts, options: determinedBy(this.options) }
    writeChecked(realFileSystem, this.#path, manifestName, manifest)
  }

  close(): void {
    this.#unlock()
  }
}

/**
 * The options that a start with this directory has.
 * @throws OptionError
 */
export function optionsOfStart(given: ClusterOptions): ResolvedOptions {
  resolveDbPath(given)
  const path = resolve(given.dbPath!)
  try {
    const manifest = existsSync(path) ? readManifest(path) : undefined
    if (manifest === undefined || manifest.starts === 0) return resolveOptions(given)
    return optionsOfDirectory(given, manifest.options, given.dbPath!)
  } catch (error) {
    throw explainedOf(path, error)
  }
}

const notDirectory = (path: string): OptionError => new OptionError(`${path} is not a directory: choose another path.`)

function explainedOf(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOTDIR') return notDirectory(path)
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new OptionError(`${path} cannot be used (${message}): choose another directory, or change its permissions.`)
  return explained(error, { dbPath: path, host: '', port: 0 })
}

/** undefined: the directory is empty. @throws OptionError, DiskDamagedError */
function readManifest(path: string): Manifest | undefined {
  const manifest = readChecked(realFileSystem, path, manifestName) as Manifest | undefined
  if (manifest === undefined) {
    if (existsSync(`${path}/${serverManifestName}`))
      throw new OptionError(
        `${path} holds the data of a shardlab-mongod: start that with it, or choose another directory.`,
      )
    const others = realFileSystem.namesSync(path).filter((name) => !/^lock\b|^cluster\.json\.tmp$/.test(name))
    if (others.length > 0)
      throw new OptionError(
        `${path} has no ${manifestName}, and other files such as ${others[0]}: choose an empty directory, or one that Shardlab has written.`,
      )
  } else if (manifest.format !== formatVersion)
    throw new OptionError(
      `${path} has version ${manifest.format} of the format, and this Shardlab reads version ${formatVersion}: use the release that wrote it.`,
    )
  return manifest
}

/** Memory for each byte in files, while they are read: measured by `bench -- durable`. */
const memoryPerByte = 2.5

/** @throws OptionError */
export function checkMemory(path: string, dataBytes: number, freeBytes: number): void {
  const neededBytes = dataBytes * memoryPerByte
  if (neededBytes > freeBytes)
    throw new OptionError(
      `${path} has ${readableSize(dataBytes)} of data, which need about ${readableSize(neededBytes)} of memory, and this process has ${readableSize(freeBytes)}: free some memory, or use another machine.`,
    )
}

function makeDirectory(path: string): void {
  try {
    makeFolder(path, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' || code === 'ENOTDIR') throw notDirectory(path)
    throw new OptionError(`${path} cannot be created (${(error as Error).message}): choose another directory.`)
  }
}
