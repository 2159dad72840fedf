/** The disks of a world in the caller's thread: in memory, or in files. */
import type { Address } from '@shardlab/actor'
import type { DiskFolder, DiskOwner, FileDiskPlace } from './files/disk-folder.js'
import { FileDisk } from './files/file-disk.js'
import { MemoryDisk } from './memory-disk.js'

export type LocalDisk = MemoryDisk | FileDisk

export class LocalDisks {
  readonly #folder: DiskFolder | null
  readonly #onRepaired: (member: Address, message: string) => void

  /** @param folder null: the disks are in memory */
  constructor(folder: DiskFolder | null, onRepaired: (member: Address, message: string) => void) {
    this.#folder = folder
    this.#onRepaired = onRepaired
  }

  get areFiles(): boolean {
    return this.#folder !== null
  }

  /** Of a member that starts for the first time in this process. */
  open(owner: DiskOwner): LocalDisk {
    if (this.#folder === null || owner.diskLimitBytes === 0) return new MemoryDisk(owner.diskLimitBytes)
    return this.#openAt(this.#folder, this.#folder.prepare(owner), owner)
  }

  #openAt(folder: DiskFolder, place: FileDiskPlace, { address }: DiskOwner): FileDisk {
    return folder.open(place, (message) => this.#onRepaired(address, message))
  }

  /** An empty one, of a member that is down. */
  replace(owner: DiskOwner): LocalDisk {
    if (this.#folder === null || owner.diskLimitBytes === 0) return new MemoryDisk(owner.diskLimitBytes)
    return this.#openAt(this.#folder, this.#folder.replace(owner), owner)
  }

  /** Of a member that starts again. */
  reopen(disk: LocalDisk, owner: DiskOwner): LocalDisk {
    return disk instanceof FileDisk ? this.open(owner) : disk
  }

  drop(address: Address): void {
    this.#folder?.remove(address)
  }

  noteEndpoint(address: Address, endpoint: string): void {
    this.#folder?.noteEndpoint(address, endpoint)
  }

  /** The members have shut down. */
  async close(disks: readonly LocalDisk[]): Promise<void> {
    await Promise.all(disks.flatMap((disk) => (disk instanceof FileDisk ? [disk.close()] : [])))
  }
}
