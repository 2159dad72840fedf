/**
 * The folder of all disks of a world: one folder per member, with its files and `member.json`,
 * which says whose they are and where the member listened.
 */
import type { Address } from '@shardlab/actor'
import { readChecked, writeChecked } from './checked-text.js'
import { FileDisk } from './file-disk.js'
import { realFileSystem, syncFolder, type FileSystem } from './file-system.js'

const membersName = 'members'
const memberName = 'member.json'

/** Can be posted to a worker. */
export interface FileDiskPlace {
  readonly folder: string
  readonly limitBytes: number
}

export interface StoredMember {
  readonly address: Address
  /** Null: the only member, as in `MemberSpec.set`. */
  readonly set: Address | null
  readonly role: string
  /** `host:port`. Null: it never started. */
  readonly endpoint: string | null
}

/** The part of a member's specification that its disk needs. */
export interface DiskOwner {
  readonly address: Address
  readonly set?: string
  readonly role: string
  readonly diskLimitBytes: number
}

export class DiskFolder {
  readonly #files: FileSystem
  readonly #root: string
  readonly #members = new Map<Address, StoredMember>()

  /**
   * Makes the folder if there is none. The parent must exist.
   * @throws DiskDamagedError
   */
  constructor(root: string, files: FileSystem = realFileSystem) {
    this.#files = files
    this.#root = `${root}/${membersName}`
    files.mkdirSync(this.#root)
    syncFolder(files, root)
    for (const name of files.namesSync(this.#root)) {
      // Without the file, its member had not begun.
      const member = readChecked(files, `${this.#root}/${name}`, memberName) as StoredMember | undefined
      if (member === undefined) files.removeSync(`${this.#root}/${name}`)
      else this.#members.set(member.address, member)
    }
  }

  stored(): readonly StoredMember[] {
    return [...this.#members.values()]
  }

  /** Of the files of all members. */
  sizeBytes(): number {
    let sum = 0
    for (const address of this.#members.keys()) {
      const folder = `${this.#root}/${address}`
      for (const name of this.#files.namesSync(folder)) sum += this.#files.sizeSync(`${folder}/${name}`)
    }
    return sum
  }

  /** An empty disk, unless the folder has one of the member. */
  prepare({ address, set, role, diskLimitBytes }: DiskOwner): FileDiskPlace {
    const folder = `${this.#root}/${address}`
    if (!this.#members.has(address)) {
      this.#files.removeSync(folder)
      this.#files.mkdirSync(folder)
      FileDisk.create(this.#files, folder)
      this.#note({ address, set: set ?? null, role, endpoint: null })
      syncFolder(this.#files, this.#root)
    }
    return { folder, limitBytes: diskLimitBytes }
  }

  noteEndpoint(address: Address, endpoint: string): void {
    const member = this.#members.get(address)
    if (member !== undefined && member.endpoint !== endpoint) this.#note({ ...member, endpoint })
  }

  #note(member: StoredMember): void {
    writeChecked(this.#files, `${this.#root}/${member.address}`, memberName, member)
    this.#members.set(member.address, member)
  }

  /** The member must be down. */
  remove(address: Address): void {
    if (!this.#members.delete(address)) return
    // First this file: a folder without it is not taken for a member's.
    this.#files.removeSync(`${this.#root}/${address}/${memberName}`)
    this.#files.removeSync(`${this.#root}/${address}`)
    syncFolder(this.#files, this.#root)
  }

  open(place: FileDiskPlace, onRepaired: (message: string) => void): FileDisk {
    return new FileDisk({ files: this.#files, ...place, onRepaired })
  }
}

export function openFileDisk(place: FileDiskPlace, onRepaired: (message: string) => void): FileDisk {
  return new FileDisk({ files: realFileSystem, ...place, onRepaired })
}
