import t from 'tap'
import type { Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { deep, filled, graph, group, lookup, mergers, window } from './support/merging-cluster.js'
import { drain, type RealCluster } from './support/real-cluster.js'

type Where = 'mongos' | 'anyShard' | 'primaryShard' | `specificShard shard0${1 | 2}` | 'not split'

/** Each merge location applies since its version. */
const table: readonly (readonly [
  name: string,
  pipeline: Document[],
  options: Document,
  ...where: (readonly [EmulatedVersion, Where])[],
])[] = [
  ['streams', [{ $match: { k: 1 } }], {}, ['4.0', 'mongos']],
  ['a sort', [{ $sort: { k: 1 } }, { $limit: 3 }], {}, ['4.0', 'mongos'], ['8.0', 'mongos']],
  ['a group', group, {}, ['4.0', 'mongos'], ['5.0', 'mongos'], ['6.0.2', 'anyShard'], ['8.0', 'anyShard']],
  ['a group on the disk', group, { allowDiskUse: true }, ['4.0', 'anyShard'], ['8.0', 'anyShard']],
  ['a group in memory', group, { allowDiskUse: false }, ['4.0', 'mongos'], ['8.0', 'mongos']],
  ['a count', [{ $count: 'n' }], {}, ['5.0', 'mongos'], ['7.0', 'anyShard']],
  ['facets', [{ $facet: { a: [{ $limit: 1 }], b: group } }], {}, ['5.0', 'mongos'], ['7.0', 'anyShard']],
  [
    'facets in memory',
    [{ $facet: { a: [{ $limit: 1 }], b: [{ $skip: 1 }] } }],
    {},
    ['4.0', 'mongos'],
    ['8.0', 'mongos'],
  ],
  ['buckets', [{ $bucketAuto: { groupBy: '$k', buckets: 2 } }], {}, ['5.0', 'mongos'], ['7.0', 'anyShard']],
  ['a window', [window], {}, ['5.0', 'mongos'], ['7.0', 'anyShard']],
  [
    'filling in what is between',
    [{ $fill: { sortBy: { x: 1 }, output: { k: { method: 'locf' } } } }],
    {},
    ['6.0.2', 'anyShard'],
  ],
  [
    'a join',
    [lookup('things')],
    {},
    ['4.0', 'primaryShard'],
    ['7.0', 'primaryShard'],
    ['8.0', 'specificShard shard01'],
  ],
  [
    'a join, after a group',
    [...group, lookup('things')],
    {},
    ['4.0', 'primaryShard'],
    ['8.0', 'specificShard shard01'],
  ],
  [
    'a join inside a facet',
    [{ $facet: { a: [lookup('things')] } }],
    {},
    ['4.0', 'primaryShard'],
    ['8.0', 'specificShard shard01'],
  ],
  ['a recursive join', [graph], {}, ['4.0', 'primaryShard'], ['7.0', 'primaryShard'], ['8.0', 'specificShard shard01']],
  ['a union', [{ $unionWith: 'things' }], {}, ['4.4', 'anyShard'], ['8.0', 'anyShard']],
  ['D605 a join with a sharded collection', [lookup('sharded')], {}, ['6.0', 'mongos'], ['8.0', 'mongos']],
  ['D605 a join with a group of one', [deep], {}, ['6.0', 'mongos'], ['8.0', 'mongos']],
  ['$out', [{ $out: 'o' }], {}, ['4.0', 'primaryShard'], ['7.0', 'primaryShard'], ['8.0', 'specificShard shard01']],
  [
    '$out to another database',
    [{ $out: { db: 'far', coll: 'o' } }],
    {},
    ['4.4', 'primaryShard'],
    ['8.0', 'specificShard shard02'],
  ],
  ['$merge', [{ $merge: 'o' }], {}, ['4.4', 'primaryShard'], ['8.0', 'specificShard shard01']],
  ['$merge into a sharded collection', [{ $merge: 'sharded' }], {}, ['4.4', 'anyShard'], ['8.0', 'anyShard']],
  ['one shard', [{ $match: { x: 50 } }, ...group], {}, ['4.0', 'not split'], ['8.0', 'not split']],
  [
    'one shard, and a join',
    [{ $match: { x: 50 } }, lookup('things')],
    {},
    ['4.0', 'primaryShard'],
    ['8.0', 'specificShard shard01'],
  ],
  [
    'the primary shard, and a join',
    [{ $match: { x: -50 } }, lookup('things')],
    {},
    ['4.0', 'not split'],
    ['8.0', 'not split'],
  ],
  [
    'one shard, and $out',
    [{ $match: { x: 50 } }, { $out: 'o' }],
    {},
    ['4.0', 'primaryShard'],
    ['8.0', 'specificShard shard01'],
  ],
]

t.test('each pipeline is merged on the member that the version names', async (t) => {
  const clusters = new Map<EmulatedVersion, RealCluster>()
  for (const [name, pipeline, options, ...expected] of table)
    for (const [version, where] of expected) {
      const cluster = clusters.get(version) ?? (await filled(version))
      clusters.set(version, cluster)
      const explained = await cluster.run({
        explain: { aggregate: 'orders', pipeline, cursor: {}, ...options },
        verbosity: 'queryPlanner',
      })
      const { mergeType, mergeShardId, splitPipeline } = explained
      const told =
        mergeType === undefined
          ? splitPipeline === null
            ? 'not split'
            : explained
          : [mergeType, mergeShardId].filter(Boolean).join(' ')
      t.same(told, where, `${name}, ${version}`)
    }
  const old = await filled('2.6')
  const explained = await old.run({
    explain: { aggregate: 'orders', pipeline: group, cursor: {} },
    verbosity: 'queryPlanner',
  })
  t.notOk('mergeType' in explained)
  await drain(old, { aggregate: 'orders', pipeline: group, cursor: {} })
  t.same(mergers(old), ['shard01'], 'always the primary shard')
})
