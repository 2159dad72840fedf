import { DiskFullError, type Disk, type DiskContents, type DiskImage, type DiskUsage } from '@shardlab/actor'
import type { ActorCell } from './actor-cell.js'
import { never } from './never.js'

/** A member's disk, subject to its faults, and without effect once the incarnation is gone. */
export class CellDisk implements Disk {
  readonly #cell: ActorCell

  constructor(cell: ActorCell) {
    this.#cell = cell
  }

  get keepsImages(): boolean {
    return this.#cell.disk.keepsImages === true
  }

  append(record: Uint8Array): Promise<void> {
    const { gone, faults, disk } = this.#cell
    if (gone) return never()
    if (!faults.active) return disk.append(record)
    const copy = new Uint8Array(record)
    return faults.write(() => this.#unlessGone(() => disk.append(copy)))
  }

  appendNow(record: Uint8Array): boolean {
    const { gone, faults, disk } = this.#cell
    return !gone && !faults.active && disk.appendNow?.(record) === true
  }

  writeCheckpoint(checkpoint: Uint8Array | DiskImage): Promise<void> {
    const { gone, faults, disk } = this.#cell
    if (gone) return never()
    if (!faults.active) return disk.writeCheckpoint(checkpoint)
    if (faults.diskIsFull) return Promise.reject(new DiskFullError(disk.usage().limitBytes))
    const copy = 'copyTo' in checkpoint ? checkpoint : new Uint8Array(checkpoint)
    return faults.write(() => this.#unlessGone(() => disk.writeCheckpoint(copy)))
  }

  #unlessGone(write: () => Promise<void>): Promise<void> {
    return this.#cell.gone ? never() : write()
  }

  read(): DiskContents {
    return this.#cell.disk.read()
  }

  usage(): DiskUsage {
    return this.#cell.disk.usage()
  }

  hasRoom(recordBytes: number): boolean {
    const { faults, disk } = this.#cell
    return !(faults.active && faults.diskIsFull) && disk.hasRoom(recordBytes)
  }
}
