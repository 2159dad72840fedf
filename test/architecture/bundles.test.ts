/** The built bundles do not contain what makes all code in them slow. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))

t.test('bundles do not define the names of functions at run time', async (t) => {
  for (const folder of ['cluster/dist/workers', 'shardlab/dist/bundle']) {
    const files = readdirSync(join(packages, folder)).filter((name) => /\.c?js$/.test(name))
    t.ok(files.length > 0, folder)
    for (const file of files) {
      // The helper of esbuild's keepNames.
      const isDefining = /"name", ?\{ ?value(: ?\w+)?, ?configurable: ?(true|!0) ?\}/.test(
        readFileSync(join(packages, folder, file), 'utf8'),
      )
      t.notOk(isDefining, `${folder}/${file}`)
    }
  }
})
