import type { Disk, DiskUsage } from '@shardlab/actor'

/** Decides when a checkpoint replaces the log. */
export class CheckpointSchedule {
  readonly #disk: Disk
  readonly #afterBytes: number
  readonly #liveBytes: () => number
  /** Part of the last checkpoint that has a fixed limit: it is not a measure of the node's data. */
  #oplogBytes = 0
  /** Bytes until the next check, so that most appends do not query the disk's usage. */
  #untilCheck = 0

  /**
   * @param afterBytes a shorter log never causes a checkpoint
   * @param liveBytes size of everything that a checkpoint would contain, roughly, except the oplog
   */
  constructor(disk: Disk, afterBytes: number, liveBytes: () => number) {
    this.#disk = disk
    this.#afterBytes = afterBytes
    this.#liveBytes = liveBytes
  }

  /** The log of this length is replaced, however much of it is still needed. */
  logBytesMax({ checkpointBytes }: DiskUsage): number {
    // Images share unchanged pages, so a checkpoint costs only the copies of changed pages.
    const dataBytes = checkpointBytes - this.#oplogBytes
    return Math.max(this.#afterBytes, this.#disk.keepsImages === true ? dataBytes / 16 : 2 * dataBytes)
  }

  isExceededBy(logBytes: number): boolean {
    return logBytes > this.#afterBytes && logBytes > this.logBytesMax(this.#disk.usage())
  }

  /** @param bytes that are on the disk and no longer needed */
  dropped(bytes: number): void {
    this.#untilCheck -= bytes * (this.#afterBytes / this.#staleBytesMin)
  }

  /** @returns whether a checkpoint is due */
  appended(bytes: number): boolean {
    this.#untilCheck -= bytes
    return this.#untilCheck < 0 && this.#isDue()
  }

  /** @param oplogBytes of the checkpoint that is on the disk now */
  written(oplogBytes: number): void {
    this.#oplogBytes = oplogBytes
    this.#untilCheck = 0
  }

  #isDue(): boolean {
    const usage = this.#disk.usage()
    const left = this.logBytesMax(usage) - usage.logBytes
    this.#untilCheck = Math.min(left, this.#afterBytes)
    if (left < 0) return true
    const usedBytes = usage.logBytes + usage.checkpointBytes - this.#oplogBytes
    return usedBytes > this.#staleBytesMin && usedBytes > staleRatio * this.#liveBytes()
  }

  /** A disk with less than this is left alone, even if all of it was dropped. */
  get #staleBytesMin(): number {
    return this.#afterBytes / 8
  }
}

/** Mostly dropped or deleted data: in a steady state, log and checkpoint have less together. */
const staleRatio = 4
