/**
 * The package `@shardlab/testing` that `npm run release -- --dry-run` builds, in an empty project:
 * one suite for each test runner, whose tests all write the same keys, and strict TypeScript.
 */
import t from 'tap'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../support/up.js'
import { application, broadcasts, filesOfSuite, isLong, suites, testsOfFile } from './support/five-runners.js'
import { builtTarball, client, missing, Project, root } from './support/project.js'

const types = `
import { expectShards, template, useCluster, type ClusterFixture } from '@shardlab/testing'
import { ShardedCluster } from 'shardlab'
import * as runner from 'node:test'

const shop = useCluster(runner, { shards: 2, fill: async ({ uri }) => void uri, per: 'file' })
const cluster: ShardedCluster = shop.cluster
const copy: Promise<ShardedCluster> = shop.fork()
const whole: Pick<ClusterFixture, 'uri'> = shop
void [cluster, copy, whole, template({ clock: 'manual' }), expectShards(cluster, 1, async () => 1)]
`

const reportProgram = join('node_modules', '@shardlab', 'testing', 'bin', 'shardlab-broadcasts.js')

const installed = (name: string): string | null => (name === 'tap' ? join(root, 'node_modules', 'tap') : client(name))

t.test('tests of each runner write the same keys, each in a copy', { timeout: 500_000 }, async (t) => {
  const tarballs = [await builtTarball(t, 'shardlab'), await builtTarball(t, 'testing')]
  const project = new Project()
  t.teardown(() => project.remove())
  const reason = (await project.install(tarballs[0]!)) ?? (await project.install(tarballs[1]!))
  if (reason !== null) return void t.pass('installed', { skip: reason })
  project.write('app.cjs', application)
  for (const [name, suite] of Object.entries(suites)) {
    if (!isLong && ['jest', 'vitest', 'tap'].includes(name)) continue
    const folder = suite.needs === null ? '' : installed(suite.needs)
    if (folder === null) {
      t.pass(name, { skip: missing(name) })
      continue
    }
    if (suite.needs !== null) project.link(suite.needs, folder)
    for (let number = 1; number <= filesOfSuite; number++) project.write(suite.file(number), suite.text)
    const fills = join(project.folder, 'fills.txt')
    rmSync(fills, { force: true })
    rmSync(join(project.folder, 'broadcasts'), { recursive: true, force: true })
    // Of our own runner: theirs must find out by themselves.
    const { NODE_TEST_CONTEXT: _, TAP: __, ...env } = process.env
    const { code, stdout, stderr } = await run(process.execPath, suite.command(folder), {
      cwd: project.folder,
      env: { ...env, RUNNER: name, NO_COLOR: '1' },
    })
    t.equal(code, 0, `${name}: ${stdout.slice(-2000)}${stderr.slice(-2000)}`)
    t.match(`${stdout}${stderr}`, new RegExp(`\\b${filesOfSuite * testsOfFile}\\b`), `${name}: all tests have run`)
    t.equal(readFileSync(fills, 'utf8').trim().split('\n').length, 1, `${name}: one process has filled the cluster`)
    const report = await run(process.execPath, [reportProgram, 'broadcasts', '--json'], { cwd: project.folder })
    const rows = JSON.parse(report.stdout) as { place: string; count: number; fields: string[] }[]
    t.same(
      rows.map(({ place, count, fields }) => [place.replace(/^(\.\.\/)+/, ''), count, fields]).toSorted(),
      broadcasts.map(([place, fields]) => [place, filesOfSuite * testsOfFile, fields]),
      `${name}: the report names both broadcasts`,
    )
  }
  project.write('types.mts', types)
  t.same(await project.compile(), [])
})
