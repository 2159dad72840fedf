/** Files of a durable cluster are damaged or of another version. The message names file and place. */
export class DiskDamagedError extends Error {
  constructor(path: string, offset: number | null, what: string) {
    super(
      `${path} is damaged${offset === null ? '' : ` at byte ${offset}`}: ${what}. Nothing was changed; restore the directory from a backup.`,
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
