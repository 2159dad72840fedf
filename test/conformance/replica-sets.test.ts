/**
 * The drivers' test files about transactions on a replica set of three members: all under 8.0, and
 * a sixth of them under older versions, with SHARDLAB_LONG=1 all. `spec.test.ts` runs all files on
 * sharded clusters.
 */
import { ShardedCluster } from 'shardlab'
import t from 'tap'
import { runConformance } from './runner.js'
import { defaultSpecFolder } from './spec-files.js'

const dir = defaultSpecFolder()
const skip =
  dir === null ? { skip: `no test files in ${process.env['SHARDLAB_SPEC_DIR'] ?? '../shared/conformance/spec'}` } : {}

const shares =
  process.env['SHARDLAB_LONG'] === '1' ? { '4.0': 1, '4.4': 1, '8.0': 1 } : { '4.0': 6, '4.4': 6, '8.0': 1 }
const folders = ['transactions/', 'sessions/', 'causal-consistency/']

for (const version of ['4.0', '4.4', '8.0'] as const)
  t.test(`under ${version} no test fails on a replica set`, { ...skip, timeout: 600_000 }, async (t) => {
    await using cluster = await ShardedCluster.start({
      topology: 'replica-set',
      members: 3,
      runtime: 'inline',
      emulate: version,
    })
    const { failures, files } = await runConformance({
      uri: cluster.uri,
      dir: dir!,
      includes: (path, position) =>
        folders.some((folder) => path.startsWith(folder)) && position % shares[version] === 0,
    })
    for (const { file, test, message } of failures) t.fail(`${file} > ${test}: ${message}`)
    const kinds = new Map<string, number>()
    for (const [path, result] of Object.entries(files))
      if (path.startsWith('transactions/'))
        for (const [kind, count] of Object.entries(result)) kinds.set(kind, (kinds.get(kind) ?? 0) + count)
    t.ok((kinds.get('passed') ?? 0) > 0, JSON.stringify(Object.fromEntries(kinds)))
    t.notOk(kinds.has('feature'), 'none is skipped because the set lacks something')
  })
