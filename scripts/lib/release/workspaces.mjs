import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../workspace.mjs'

const scope = '@shardlab/'

export const manifestOf = (folder) => JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8'))

/** The folder of `@shardlab/bson` is `bson`; null: not one of ours. */
export const folderOf = (name) => (name.startsWith(scope) ? name.slice(scope.length) : null)

/** The packages of other authors on which a workspace depends, through ours too, with ranges. */
export function thirdPartyOf(folder, found = {}, seen = new Set()) {
  if (seen.has(folder)) return found
  seen.add(folder)
  for (const [name, range] of Object.entries(manifestOf(folder).dependencies ?? {})) {
    const ours = folderOf(name)
    if (ours === null) found[name] = range
    else thirdPartyOf(ours, found, seen)
  }
  return found
}
