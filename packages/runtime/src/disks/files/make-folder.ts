import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Makes a folder and the parents that are missing. `mkdir` of Node.js with `recursive` never ends
 * where the file system answers ENOENT although the parent is there, as `/proc` does.
 * @throws the error of Node.js
 */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (isFolder(path)) return
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || isFolder(parent)) throw error
    makeFolder(parent, mode)
    makeFolder(path, mode)
  }
}
