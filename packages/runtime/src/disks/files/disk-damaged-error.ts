/** A file of a durable cluster is damaged. The message names it and the place. */
export class DiskDamagedError extends Error {
  constructor(path: string, offset: number | null, what: string) {
    super(
      `${path} is damaged${offset === null ? '' : ` at byte ${offset}`}: ${what}. This file was not changed; restore the directory from a backup.`,
    )
    this.name = 'DiskDamagedError'
  }
}

/** A directory that this program cannot use; the message says why and what to do. */
export class DiskRefusedError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DiskRefusedError'
  }
}
