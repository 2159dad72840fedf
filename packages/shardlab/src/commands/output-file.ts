/** Files that a command writes when it is done. Whether they can be written is looked at before it begins, not after an hour. */
import { accessSync, constants, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Wrong input: by its name exit code 2 is chosen. */
class OutputError extends Error {
  override readonly name = 'OptionError'
}

/** @throws OutputError when no file could be written there */
export function checkPlace(path: string): void {
  const refused = (code: string): OutputError => new OutputError(`${path} cannot be written: ${code}.`)
  const folder = statSync(dirname(path), { throwIfNoEntry: false })
  if (folder === undefined) throw refused('ENOENT')
  if (!folder.isDirectory()) throw refused('ENOTDIR')
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.isDirectory() === true) throw refused('EISDIR')
  attempt(`${path} cannot be written`, () => accessSync(there === undefined ? dirname(path) : path, constants.W_OK))
}

/** With the directories above it. @throws OutputError */
export function makeDirectory(path: string): void {
  attempt(`${path} cannot be made`, () => mkdirSync(path, { recursive: true }))
}

/** @throws OutputError */
export function save(path: string, text: string): void {
  attempt(`${path} cannot be written`, () => writeFileSync(path, text))
}

function attempt(failure: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    throw new OutputError(`${failure}: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`, { cause: error })
  }
}
