import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ScriptError } from '../processes.mjs'
import { root } from '../workspace.mjs'

/** Licences that allow to ship the code in our package when their text is with it. */
const allowed = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
  '(MIT AND Zlib)',
])

/**
 * The licences of bundled packages and of those that they depend on. bson, eventemitter3 and zod
 * are dependencies, and are in the bundle of the workers, too.
 */
export function noticesOf(names, dependencies) {
  const notBundled = new Set(dependencies.filter((name) => !['bson', 'eventemitter3', 'zod'].includes(name)))
  const notices = new Map()
  const visit = (name, from) => {
    const folder = folderOf(name, from)
    if (notBundled.has(name) || folder === null || notices.has(name)) return
    const { version, license, dependencies: next = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (!allowed.has(license)) throw new ScriptError(`${name} has the licence ${license}: it cannot be bundled`)
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    notices.set(name, `${name} ${version}, ${license}\n${text}`)
    for (const each of Object.keys(next)) visit(each, folder)
  }
  for (const name of names) visit(name, root)
  const list = [...notices.keys()].sort().map((name) => notices.get(name))
  return ['This package contains code of these packages:', ...list].join(`\n\n${'-'.repeat(80)}\n\n`)
}

/** The nearest node_modules that has the package. */
function folderOf(name, from) {
  for (let folder = from; ; folder = join(folder, '..')) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (folder === join(folder, '..')) return null
  }
}
