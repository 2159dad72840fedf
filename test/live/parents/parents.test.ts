/**
 * Clusters end with the program that started them. `SHARDLAB_LONG=1` kills 100 parents; otherwise
 * one for each language and way to start.
 */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { allCases, killLauncher, killParent } from './parents.js'

const isLong = process.env['SHARDLAB_LONG'] === '1'
const count = isLong ? 100 : 4
const hasPython = spawnSync('python3', ['--version']).status === 0

t.test('no cluster outlives a parent that is killed', { timeout: Math.max(120_000, count * 10_000) }, async (t) => {
  const cases = allCases().filter(({ language }) => hasPython || language !== 'python')
  for (let i = 0; i < count; i++) {
    // An odd step visits all cases.
    const each = cases[(i * 9) % cases.length]!
    await killParent(each)
    t.pass(Object.values(each).join(' '))
  }
})

t.test('a cluster that npx started ends with npx', { timeout: 60_000 }, async (t) => {
  for (const signal of isLong ? (['SIGTERM', 'SIGKILL'] as const) : (['SIGTERM'] as const)) {
    await killLauncher(signal)
    t.pass(signal)
  }
})
