/** Output files are checked before the work of a command, which may take an hour. */
import { accessSync, constants, mkdirSync, statSync, writeFileSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'

/** The name determines exit code 2. */
class OutputError extends Error {
  override readonly name = 'OptionError'
}

/** @throws OutputError when no file can be written at the path */
export function checkWritable(path: string): void {
  const failure = `${path} cannot be written`
  const refused = (code: string): OutputError => new OutputError(`${failure}: ${code}.`)
  const statusOf = (place: string): Stats | undefined =>
    attempt(failure, () => statSync(place, { throwIfNoEntry: false }))
  const folder = statusOf(dirname(path))
  if (folder === undefined) throw refused('ENOENT')
  if (!folder.isDirectory()) throw refused('ENOTDIR')
  const there = statusOf(path)
  if (there?.isDirectory() === true) throw refused('EISDIR')
  attempt(failure, () => accessSync(there === undefined ? dirname(path) : path, constants.W_OK))
}

/** Also creates the parents. @throws OutputError */
export function makeDirectory(path: string): void {
  attempt(`${path} cannot be created`, () => mkdirSync(path, { recursive: true }))
}

/** @throws OutputError */
export function save(path: string, content: string | Uint8Array): void {
  attempt(`${path} cannot be written`, () => writeFileSync(path, content))
}

function attempt<Result>(failure: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new OutputError(`${failure}: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`, { cause: error })
  }
}
