/**
 * The package `shardlab` that `npm run release -- --dry-run` builds, in an empty project: `import`
 * and `require`, each version of Node.js that is installed here, the command line, Jest, strict
 * TypeScript.
 */
import t from 'tap'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from '../support/up.js'
import { builtTarball, client, missing, nodes, Project, root } from './support/project.js'
import * as scripts from './support/scripts.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'

t.test('shardlab installs from one tarball into an empty project', { timeout: 170_000 }, async (t) => {
  const tarball = await builtTarball(t, 'shardlab')
  const project = new Project()
  t.teardown(() => project.remove())
  const reason = await project.install(tarball)
  if (reason !== null) return void t.pass('installed', { skip: reason })
  project.write('cluster.mjs', scripts.esmCluster)
  project.write('cluster.cjs', scripts.cjsCluster)
  for (const [version, node] of nodes) {
    if (node === null) {
      t.pass(version, { skip: missing(version) })
      continue
    }
    t.equal(await project.run(node, 'cluster.mjs'), 'fine', `import, ${version}`)
    // The short run requires it once.
    if (node === nodes[0]![1] || isLong) t.equal(await project.run(node, 'cluster.cjs'), 'fine', `require, ${version}`)
  }

  const bin = join('node_modules', 'shardlab', 'bin', 'shardlab.js')
  t.match(await project.run(process.execPath, bin, '--version'), /^\d+\.\d+\.\d+$/)
  const library = await run(process.execPath, [join(project.folder, bin), 'simulate', '--list'])
  t.match(library.stdout, /hot-monotonic-key/, 'the scenarios of the library are in the package')

  for (const [name, folder] of [
    ['mongod', 'db'],
    ['mongos', 'mongos'],
  ] as const) {
    const which = await run(process.execPath, [join(project.folder, bin), 'which', name])
    const { stdout } = await run(which.stdout.trim(), ['--version'])
    t.match(stdout, new RegExp(`^${folder} version v\\d+\\.\\d+\\.\\d+\\n`), `${name} stands in from the package`)
  }

  const jest = client('jest')
  if (jest === null) t.pass('Jest', { skip: missing('jest') })
  else {
    project.write('cluster.test.js', scripts.jestTest)
    const guide = readFileSync(join(root, 'docs', 'guides', 'jest.md'), 'utf8')
    const [, file, tests] = /^```js\n\/\/ (\S+)\n(.*?)^```$/ms.exec(guide)!
    project.write(file!, tests!)
    const { code, stderr } = await run(
      process.execPath,
      [join(jest, 'bin', 'jest.js'), '--rootDir', '.', '--forceExit'],
      {
        cwd: project.folder,
      },
    )
    t.equal(code, 0, stderr)
  }

  project.write('esm.mts', scripts.esmTypes)
  project.write('cjs.cts', scripts.cjsTypes)
  t.same(await project.compile(), [])
  const folder = join(project.folder, 'node_modules', 'shardlab')
  for (const page of ['README.md', ...markdownIn(folder, 'docs')]) {
    const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
    const missing = links
      .map(([, target]) => target!)
      .filter((target) => !existsSync(join(folder, dirname(page), target)))
    t.same(missing, [], `${page}: links lead to pages of the package`)
    if (page === 'README.md') t.ok(links.length > 20, 'the README links the guides')
  }
  const notices = readFileSync(join(project.folder, 'node_modules', 'shardlab', 'THIRD-PARTY-NOTICES'), 'utf8')
  for (const name of ['commander', 'msgpackr', 'p-queue', 'bson']) t.match(notices, new RegExp(`^${name} \\d`, 'm'))
})

function markdownIn(folder: string, below: string): string[] {
  const files = readdirSync(join(folder, below), { recursive: true, encoding: 'utf8' })
  return files.filter((file) => file.endsWith('.md')).map((file) => join(below, file))
}
