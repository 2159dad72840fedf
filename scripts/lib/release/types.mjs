/**
 * The types of a package, with those of the packages of ours that they refer to: once for `import`
 * (.d.ts) and once for `require` (.d.cts), because the types of one are errors for the other.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { root } from '../workspace.mjs'
import { folderOf } from './workspaces.mjs'

const specifiers = /(\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)(['"])([^'"]+)\2/g

/** @param renamed packages of ours whose types are not copied, with their published names */
export function writeTypes(folder, stage, renamed = {}) {
  const seen = new Set()
  const copy = (path) => {
    if (seen.has(path)) return
    seen.add(path)
    const [owner, ...rest] = path.split('/')
    const text = readFileSync(join(root, 'packages', owner, 'dist', 'src', `${rest.join('/')}.d.ts`), 'utf8')
      .replace(/^\/\/# sourceMappingURL=.*$/m, '')
      .trimEnd()
    const targets = []
    const written = (extension) =>
      text.replace(specifiers, (whole, keyword, quote, name) => {
        if (renamed[name] !== undefined) return `${keyword}${quote}${renamed[name]}${quote}`
        const target = targetOf(path, name)
        if (target === null) return whole
        targets.push(target)
        const relative = posix.relative(posix.dirname(path), target)
        return `${keyword}${quote}${relative.startsWith('.') ? '' : './'}${relative}.${extension}${quote}`
      })
    for (const [ending, extension] of [
      ['d.ts', 'js'],
      ['d.cts', 'cjs'],
    ]) {
      const file = join(stage, 'types', `${path}.${ending}`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `${written(extension)}\n`)
    }
    for (const target of targets) copy(target)
  }
  copy(`${folder}/index`)
}

/** `cluster/faults/fault`, without an ending; null: a module of another author. */
function targetOf(path, name) {
  if (name.startsWith('.')) return posix.join(posix.dirname(path), name.replace(/\.js$/, ''))
  const ours = folderOf(name)
  return ours === null ? null : `${ours}/index`
}
