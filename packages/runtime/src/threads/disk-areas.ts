import type { DiskFolder } from '../disks/files/disk-folder.js'
import { createSharedDisk, sizeOfSharedDisk, type NewArea, type SharedDiskBuffers } from '../disks/shared-disk.js'
import type { MemberSpec } from '../runtime.js'
import type { Member } from '../supervisor/member-table.js'
import { MemoryTrimmer } from './memory-trimmer.js'
import type { ThreadsPlace } from './worker-place.js'

/**
 * The disks: in memory, which the workers replace as the disks grow and shrink, or in files.
 */
export class DiskAreas {
  readonly folder: DiskFolder | undefined
  readonly #members: () => readonly Member<ThreadsPlace>[]
  /** Created when the first disk releases memory. */
  #trimmer: MemoryTrimmer | null = null
  #stopped = false

  /** @param folder undefined: the disks are in memory */
  constructor(members: () => readonly Member<ThreadsPlace>[], folder: DiskFolder | undefined) {
    this.#members = members
    this.folder = folder
  }

  create(spec: MemberSpec): ThreadsPlace['disk'] {
    if (this.folder === undefined || spec.diskLimitBytes === 0) return createSharedDisk(spec.diskLimitBytes)
    return this.folder.prepare(spec)
  }

  /** An empty disk of a member that is down. */
  renew(spec: MemberSpec): ThreadsPlace['disk'] {
    return this.folder === undefined || spec.diskLimitBytes === 0 ? this.create(spec) : this.folder.replace(spec)
  }

  replace({ diskId, area, buffer }: NewArea): void {
    // The disk may have been replaced after its writer sent this.
    const disk = this.#disks().find(({ id }) => id === diskId)
    if (disk === undefined || this.#stopped) return
    this.#trimmer ??= new MemoryTrimmer({ growthBytesMin: Number.POSITIVE_INFINITY })
    this.#trimmer.released(disk.areas[area]!.byteLength)
    disk.areas[area] = buffer
  }

  sizeBytes(): number {
    return this.#disks().reduce((sum, disk) => sum + sizeOfSharedDisk(disk), 0)
  }

  #disks(): SharedDiskBuffers[] {
    return this.#members().flatMap(({ place: { disk } }) => ('areas' in disk ? [disk] : []))
  }

  stop(): void {
    this.#stopped = true
    this.#trimmer?.stop()
  }
}
