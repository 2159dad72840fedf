import { explained } from '../listen-error.js'
import { OptionError } from '../option-error.js'

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

/** Returns errors that are not about the directory unchanged. */
export function directoryError(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return new ServerDirectoryError('read-only', message)
  const found = explained(error, { dbPath: path, host: '', port: 0 })
  return found instanceof OptionError ? new ServerDirectoryError('damaged', found.message) : found
}
