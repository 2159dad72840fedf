/**
 * The package `@shardlab/unique` that `npm run release -- --dry-run` builds, in empty projects:
 * `import` and `require`, each version of Node.js and of the driver that is installed here, strict
 * TypeScript.
 */
import t from 'tap'
import { join } from 'node:path'
import { TestClusters } from '../support/clusters.js'
import { builtTarball, client, missing, nodes, Project, root } from './support/project.js'
import * as scripts from './support/scripts.js'

const long = process.env['SHARDLAB_LONG'] === '1'
const clusters = new TestClusters()
t.teardown(() => clusters.stop())

const tarball = await builtTarball(t, 'unique')

t.test('@shardlab/unique installs from one tarball into an empty project', { timeout: 170_000 }, async (t) => {
  const project = new Project()
  t.teardown(() => project.remove())
  const reason = await project.install(tarball)
  if (reason !== null) return void t.pass('installed', { skip: reason })
  const { cluster } = await clusters.at('7.0')
  project.write('unique.mjs', scripts.esmUnique)
  t.equal(await project.run(process.execPath, 'unique.mjs', cluster.uri, 'installed'), 'fine')
})

for (const [driver, path] of [
  ['mongodb5', client('mongodb5')],
  ['mongodb6', client('mongodb6')],
  ['mongodb', join(root, 'node_modules', 'mongodb')],
] as const) {
  t.test(`@shardlab/unique works and compiles with the driver ${driver}`, { timeout: 170_000 }, async (t) => {
    if (path === null) return void t.pass(driver, { skip: missing(driver) })
    const project = new Project()
    t.teardown(() => project.remove())
    await project.unpack(tarball, '@shardlab/unique')
    project.link('mongodb', path)
    project.link('eventemitter3', join(root, 'node_modules', 'eventemitter3'))
    project.write('unique.mjs', scripts.esmUnique)
    project.write('unique.cjs', scripts.cjsUnique)
    project.write('types.mts', scripts.uniqueTypes)
    project.write('types.cts', scripts.uniqueTypes)
    const { cluster } = await clusters.at('7.0')
    // The short run tries each driver and each version of Node.js once.
    for (const [version, node] of driver === 'mongodb' || long ? nodes : nodes.slice(0, 1)) {
      if (node === null) continue
      const name = `${driver}_${version.replaceAll('.', '_')}`
      t.equal(await project.run(node, 'unique.mjs', cluster.uri, `${name}_esm`), 'fine', `import, ${version}`)
      t.equal(await project.run(node, 'unique.cjs', cluster.uri, `${name}_cjs`), 'fine', `require, ${version}`)
    }
    t.same(await project.compile(), [])

    const other = driver === 'mongodb6' ? join(root, 'node_modules', 'mongodb') : client('mongodb6')
    if (other === null) return void t.pass('another driver', { skip: missing('mongodb6') })
    project.link('other', other)
    project.write('other.mjs', scripts.otherDriver)
    t.match(
      await project.run(process.execPath, 'other.mjs', cluster.uri),
      /^RefusedOperationError: the collection belongs to another major version of the mongodb driver/,
    )
  })
}
