import { DiskDamagedError, DiskRefusedError } from '@shardlab/runtime'

/**
 * - `missing`: there is no such directory.
 * - `in-use`: another process has it.
 * - `read-only`: this process may not write there.
 * - `other-data`: of another server, or of another program.
 * - `other-engine`: data that a server with an engine in memory would ignore.
 * - `other-version`: data of another emulated version, or in another format.
 * - `damaged`: the data cannot be read, or there is no space.
 */
export type DirectoryProblem =
  | 'missing'
  | 'in-use'
  | 'read-only'
  | 'other-data'
  | 'other-engine'
  | 'other-version'
  | 'damaged'

/** A server cannot start with its directory. The message is a sentence with the reason. */
export class ServerDirectoryError extends Error {
  override readonly name = 'ServerDirectoryError'
  readonly problem: DirectoryProblem

  constructor(problem: DirectoryProblem, message: string) {
    super(message)
    this.problem = problem
  }
}

/** Returns errors that are not about files unchanged. */
export function directoryError(directory: string, error: unknown): unknown {
  if (error instanceof DiskDamagedError || error instanceof DiskRefusedError)
    return new ServerDirectoryError('damaged', error.message)
  const { code, path, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new ServerDirectoryError('damaged', `there is no space for ${directory}: free some.`)
  const isDenied = code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
  // Errors of sockets have the same codes, and no path.
  return isDenied && path !== undefined ? new ServerDirectoryError('read-only', message) : error
}
