/**
 * The folder of all disks of a world: one folder per member, with its files and `member.json`,
 * which says whose they are and where the member listened. A folder gets its name when it is whole,
 * and loses it before it is removed. `members.json` has the addresses, so that a start notices a
 * folder that is missing.
 */
import type { Address } from '@shardlab/actor'
import { readChecked, writeChecked } from './checked-text.js'
import { DiskDamagedError } from './disk-damaged-error.js'
import { FileDisk } from './file-disk.js'
import { realFileSystem, syncFolder, type FileSystem } from './file-system.js'

const membersName = 'members'
const memberName = 'member.json'
const listName = 'members.json'
/** Addresses do not have the mark. */
const newMark = '~new'
const oldMark = '~old'

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
  readonly #parent: string
  readonly #root: string
  readonly #nameOf: (address: Address) => Address
  readonly #members = new Map<Address, StoredMember>()

  /**
   * Makes the folder if it is missing. The parent must exist.
   * @param nameOf the address by which the disk of a member is stored. Default: its own
   * @throws DiskDamagedError
   */
  constructor(
    root: string,
    files: FileSystem = realFileSystem,
    nameOf: (address: Address) => Address = (address) => address,
  ) {
    this.#files = files
    this.#nameOf = nameOf
    this.#parent = root
    this.#root = `${root}/${membersName}`
    files.mkdirSync(this.#root)
    syncFolder(files, root)
    const listed = readChecked(files, root, listName) as readonly Address[] | undefined
    if (listed === undefined && files.namesSync(this.#root).length > 0)
      throw new DiskDamagedError(`${root}/${listName}`, null, 'the file is missing')
    this.#completeChanges(listed ?? [])
    for (const name of files.namesSync(this.#root)) {
      const member = readChecked(files, `${this.#root}/${name}`, memberName) as StoredMember | undefined
      if (member === undefined)
        throw new DiskDamagedError(`${this.#root}/${name}/${memberName}`, null, 'the file is missing')
      this.#members.set(member.address, member)
    }
    for (const address of listed ?? [])
      if (!this.#members.has(address))
        throw new DiskDamagedError(`${this.#root}/${address}`, null, 'the folder is missing')
    if (listed?.length !== this.#members.size) this.#list()
  }

  /** Of a cluster whose first start was not completed. */
  static remove(root: string, files: FileSystem = realFileSystem): void {
    files.removeSync(`${root}/${membersName}`)
    files.removeSync(`${root}/${listName}`)
  }

  /** Undoes what a crash has interrupted, unless only the removal of files is left. */
  #completeChanges(listed: readonly Address[]): void {
    const names = this.#files.namesSync(this.#root)
    for (const name of names.filter((each) => each.endsWith(newMark))) this.#files.removeSync(`${this.#root}/${name}`)
    for (const name of names.filter((each) => each.endsWith(oldMark))) {
      const address = name.slice(0, -oldMark.length)
      if (names.includes(address) || !listed.includes(address)) this.#files.removeSync(`${this.#root}/${name}`)
      else this.#rename(name, address)
    }
    syncFolder(this.#files, this.#root)
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
  prepare(owner: DiskOwner): FileDiskPlace {
    const address = this.#nameOf(owner.address)
    if (!this.#members.has(address)) {
      const member = this.#create(address, owner)
      this.#rename(address + newMark, address)
      syncFolder(this.#files, this.#root)
      this.#members.set(address, member)
      this.#list()
    }
    return { folder: `${this.#root}/${address}`, limitBytes: owner.diskLimitBytes }
  }

  /** An empty disk. Until it is complete, the member has its former one. It must be down. */
  replace(owner: DiskOwner): FileDiskPlace {
    const address = this.#nameOf(owner.address)
    if (this.#members.has(address)) {
      const member = this.#create(address, owner)
      this.#rename(address, address + oldMark)
      this.#rename(address + newMark, address)
      syncFolder(this.#files, this.#root)
      this.#members.set(address, member)
      this.#files.removeSync(`${this.#root}/${address}${oldMark}`)
    }
    return this.prepare(owner)
  }

  #create(address: Address, { set, role }: DiskOwner): StoredMember {
    const folder = `${this.#root}/${address}${newMark}`
    const member: StoredMember = { address, set: set ?? null, role, endpoint: null }
    this.#files.removeSync(folder)
    this.#files.mkdirSync(folder)
    FileDisk.create(this.#files, folder)
    writeChecked(this.#files, folder, memberName, member)
    return member
  }

  #rename(from: string, to: string): void {
    this.#files.renameSync(`${this.#root}/${from}`, `${this.#root}/${to}`)
  }

  #list(): void {
    writeChecked(this.#files, this.#parent, listName, [...this.#members.keys()])
  }

  noteEndpoint(ofMember: Address, endpoint: string): void {
    const address = this.#nameOf(ofMember)
    const former = this.#members.get(address)
    if (former === undefined || former.endpoint === endpoint) return
    const member = { ...former, endpoint }
    writeChecked(this.#files, `${this.#root}/${address}`, memberName, member)
    this.#members.set(address, member)
  }

  /** The member must be down. */
  remove(ofMember: Address): void {
    const address = this.#nameOf(ofMember)
    if (!this.#members.delete(address)) return
    this.#rename(address, address + oldMark)
    syncFolder(this.#files, this.#root)
    this.#list()
    this.#files.removeSync(`${this.#root}/${address}${oldMark}`)
  }

  open(place: FileDiskPlace, onRepaired: (message: string) => void): FileDisk {
    return new FileDisk({ files: this.#files, ...place, onRepaired })
  }
}

export function openFileDisk(place: FileDiskPlace, onRepaired: (message: string) => void): FileDisk {
  return new FileDisk({ files: realFileSystem, ...place, onRepaired })
}
