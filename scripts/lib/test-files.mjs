import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { root, workspaceFolders } from './workspace.mjs'

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return entry.name === 'support' || entry.name === 'node_modules' ? [] : filesBelow(path)
  })
}

/** packages/x/dist/test/a.test.js comes from packages/x/test/a.test.ts. */
const sourceOf = (path) => path.replace(`${sep}dist${sep}`, sep).replace(/\.js$/, '.ts')

/**
 * The built test files of all workspaces, relative to the root; those of the `test` workspace
 * first, since they take longest, then by name. Files without a source are left out: the compiler
 * does not remove the output of deleted files.
 *
 * @param {readonly string[]} filters parts of a path, of a source or of a built file; none: all
 *   files
 */
export function testFiles(filters) {
  const files = workspaceFolders()
    .map((folder) => (folder === 'test' ? join(folder, 'dist') : join(folder, 'dist', 'test')))
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(join(root, folder)))
    .map((path) => relative(root, path))
    .filter((path) => path.endsWith('.test.js') && existsSync(join(root, sourceOf(path))))
  const matches = (path) => filters.some((filter) => path.includes(filter) || sourceOf(path).includes(filter))
  const wanted = filters.length === 0 ? files : files.filter(matches)
  const ofSeveral = (path) => path.startsWith(`test${sep}`)
  return wanted.toSorted((a, b) => Number(ofSeveral(b)) - Number(ofSeveral(a)) || (a < b ? -1 : 1))
}

/** `files` in an order determined by `seed`. */
export function shuffled(files, seed) {
  const place = new Map(files.map((file) => [file, createHash('sha256').update(`${seed} ${file}`).digest('hex')]))
  return files.toSorted((a, b) => (place.get(a) < place.get(b) ? -1 : 1))
}
