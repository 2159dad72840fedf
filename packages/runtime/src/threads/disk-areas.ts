import { sizeOfSharedDisk, type NewArea, type SharedDiskBuffers } from '../disks/shared-disk.js'
import type { Member } from '../supervisor/member-table.js'
import { MemoryTrimmer } from './memory-trimmer.js'
import type { ThreadsPlace } from './worker-place.js'

/** The memory of the disks, which the workers replace as the disks grow and shrink. */
export class DiskAreas {
  readonly #members: () => readonly Member<ThreadsPlace>[]
  /** Created when the first disk releases memory. */
  #trimmer: MemoryTrimmer | null = null
  #stopped = false

  constructor(members: () => readonly Member<ThreadsPlace>[]) {
    this.#members = members
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
