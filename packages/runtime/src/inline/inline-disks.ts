/** The disks of a world in the caller's thread: in memory, or in files. */
import type { Address } from '@shardlab/actor'
import type { DiskFolder, FileDiskPlace } from '../disks/files/disk-folder.js'
import { FileDisk } from '../disks/files/file-disk.js'
import { MemoryDisk } from '../disks/memory-disk.js'
import type { MemberSpec } from '../runtime.js'

export type InlineDisk = MemoryDisk | FileDisk

export class InlineDisks {
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
  open(spec: MemberSpec): InlineDisk {
    if (this.#folder === null || spec.diskLimitBytes === 0) return new MemoryDisk(spec.diskLimitBytes)
    return this.#openAt(this.#folder, this.#folder.prepare(spec), spec)
  }

  #openAt(folder: DiskFolder, place: FileDiskPlace, { address }: MemberSpec): FileDisk {
    return folder.open(place, (message) => this.#onRepaired(address, message))
  }

  /** An empty one, of a member that is down. */
  replace(spec: MemberSpec): InlineDisk {
    if (this.#folder === null || spec.diskLimitBytes === 0) return new MemoryDisk(spec.diskLimitBytes)
    return this.#openAt(this.#folder, this.#folder.replace(spec), spec)
  }

  /** Of a member that starts again. */
  reopen(disk: InlineDisk, spec: MemberSpec): InlineDisk {
    return disk instanceof FileDisk ? this.open(spec) : disk
  }

  drop(address: Address): void {
    this.#folder?.remove(address)
  }

  noteEndpoint(address: Address, endpoint: string): void {
    this.#folder?.noteEndpoint(address, endpoint)
  }

  /** The members have shut down. */
  async close(disks: readonly InlineDisk[]): Promise<void> {
    await Promise.all(disks.flatMap((disk) => (disk instanceof FileDisk ? [disk.close()] : [])))
  }
}
