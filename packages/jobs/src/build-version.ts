/** Tells builds apart: only equal ones may play jobs for each other. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const version = '0.1.0'

/** `0.1.0+1f0a9c3b`: the version, and a digest of the code, because checkouts differ in it. */
export function buildVersion(): string {
  const hash = createHash('sha256')
  for (const path of scriptsOf(fileURLToPath(import.meta.url))) hash.update(readFileSync(path))
  return `${version}+${hash.digest('hex').slice(0, 8)}`
}

/** In a checkout those of all packages, in the published package those of its folder. */
function scriptsOf(self: string): string[] {
  const folder = dirname(self)
  // Of packages/jobs/dist/src and of packages/shardlab/dist/bundle.
  const packages = join(folder, '..', '..', '..')
  const isOfCheckout = self.endsWith(join('dist', 'src', 'build-version.js')) || folder.endsWith(join('dist', 'bundle'))
  const folders = isOfCheckout
    ? readdirSync(packages)
        .sort()
        .map((name) => join(packages, name, 'dist', 'src'))
    : [folder]
  return folders.flatMap((each) =>
    readdirSync(each, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('js'))
      .sort()
      .map((name) => join(each, name)),
  )
}
