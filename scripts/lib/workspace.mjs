import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder that holds the root package.json. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** The JavaScript file that an installed package names in `bin`; null when it is not installed. */
export function installedBin(packageName, binName = packageName) {
  const folder = join(root, 'node_modules', packageName)
  const manifestPath = join(folder, 'package.json')
  if (!existsSync(manifestPath)) return null
  const { bin } = JSON.parse(readFileSync(manifestPath, 'utf8'))
  const path = typeof bin === 'string' ? bin : bin?.[binName]
  return path === undefined ? null : join(folder, path)
}

/** The folders of all workspaces with a tsconfig.json, relative to the root. */
export function workspaceFolders() {
  const packages = readdirSync(join(root, 'packages'), { withFileTypes: true })
  return [
    ...packages.filter((entry) => entry.isDirectory()).map((entry) => join('packages', entry.name)),
    'test',
  ].filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))
}
