/** Explain over real storage nodes. */
import { decode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { RealCluster } from './support/sharded-nodes.js'

async function filled(emulate: EmulatedVersion = '8.0'): Promise<RealCluster> {
  const cluster = await RealCluster.create({ emulate })
  const documents = [-5, -1, 5, 50, 99, 200, 300].map((x, i) => ({ _id: i, x, even: i % 2 === 0 }))
  await cluster.run({ insert: 'c', documents })
  await cluster.run({ insert: 'plain', documents })
  return cluster
}

const namesOf = (document: unknown) => Object.keys(document as Document)

t.test('one shard, several shards, several shards with a sort', async (t) => {
  const cluster = await filled()
  const explained = async (command: Document, verbosity = 'queryPlanner') => cluster.run({ explain: { find: 'c', ...command }, verbosity })
  const one = await explained({ filter: { x: 5 } })
  t.equal(one['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD')
  t.same(
    one['queryPlanner'].winningPlan.shards.map((shard: Document) => shard['shardName']),
    ['shard02'],
  )
  t.match(one['queryPlanner'].winningPlan.shards[0], { connectionString: 'shard02/127.0.0.1:5001', namespace: 'test.c' })
  t.same(namesOf(one['queryPlanner'].winningPlan.shards[0]).slice(0, 4), ['shardName', 'connectionString', 'serverInfo', 'namespace'])
  const several = await explained({ filter: { x: { $gte: 50 } } })
  t.equal(several['queryPlanner'].winningPlan.stage, 'SHARD_MERGE')
  t.same(
    several['queryPlanner'].winningPlan.shards.map((shard: Document) => shard['shardName']),
    ['shard02', 'shard03'],
  )
  t.match(several['queryPlanner'].winningPlan.shards[0].winningPlan, { stage: 'SHARDING_FILTER', inputStage: { stage: 'COLLSCAN' } })
  t.equal((await explained({ sort: { _id: 1 } }))['queryPlanner'].winningPlan.stage, 'SHARD_MERGE_SORT')
  t.same(namesOf(several), ['queryPlanner', 'serverInfo', 'serverParameters', 'command', 'ok', '$clusterTime', 'operationTime'])
  t.same(several['command'], { find: 'c', filter: { x: { $gte: 50 } }, $db: 'test' })
  const plain = await cluster.run({ explain: { find: 'plain', filter: { even: true } }, verbosity: 'queryPlanner' })
  t.equal(plain['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD', 'what is not sharded is on one')
  t.match(plain['queryPlanner'].winningPlan.shards[0].winningPlan, { stage: 'COLLSCAN' })
})

t.test('execution statistics are summed up', async (t) => {
  const cluster = await filled('7.0')
  const raw = await cluster.runRaw({ explain: { find: 'c', filter: { even: true } } })
  const { executionStats } = decode(raw)
  t.match(executionStats, {
    nReturned: 4,
    totalKeysExamined: 0,
    totalDocsExamined: 7,
    executionStages: { stage: 'SHARD_MERGE', nReturned: 4, totalDocsExamined: 7 },
  })
  t.same(namesOf(executionStats), [
    'nReturned',
    'executionTimeMillis',
    'totalKeysExamined',
    'totalDocsExamined',
    'executionStages',
    'allPlansExecution',
  ])
  t.match(
    executionStats.executionStages.shards.map(({ shardName, executionSuccess }: Document) => [shardName, executionSuccess]),
    [
      ['shard01', true],
      ['shard02', true],
      ['shard03', true],
    ],
  )
  t.same(executionStats.allPlansExecution[0], { shardName: 'shard01', allPlans: [] })
  const planned = await cluster.run({ explain: { find: 'c' }, verbosity: 'queryPlanner' })
  t.equal('executionStats' in planned, false)
})

t.test('count, distinct and writes', async (t) => {
  const cluster = await filled('7.0')
  const stageOf = async (command: Document) =>
    (await cluster.run({ explain: command, verbosity: 'queryPlanner' }))['queryPlanner'].winningPlan
  t.equal((await stageOf({ count: 'c', query: { even: true } })).stage, 'SHARD_MERGE')
  t.equal((await stageOf({ distinct: 'c', key: 'even', query: { x: 5 } })).stage, 'SINGLE_SHARD')
  const update = await stageOf({ update: 'c', updates: [{ q: { x: 5 }, u: { $set: { a: 1 } } }] })
  t.equal(update.stage, 'SHARD_WRITE')
  t.match(update.shards, [{ shardName: 'shard02', winningPlan: { stage: 'UPDATE' } }])
  const removal = await cluster.run({ explain: { delete: 'c', deletes: [{ q: { x: { $lt: 0 } }, limit: 0 }] } })
  t.equal(removal['queryPlanner'].winningPlan.stage, 'SHARD_WRITE')
  t.match(removal['executionStats'].executionStages.shards, [
    { shardName: 'shard01', executionStages: { stage: 'DELETE', nWouldDelete: 2 } },
  ])
  t.equal((await stageOf({ findAndModify: 'c', query: { x: 5 }, remove: true })).stage, 'SINGLE_SHARD')
  t.equal((await cluster.run({ count: 'c' }))['n'], 7, 'nothing was written')
  t.match(await cluster.run({ explain: { delete: 'c', deletes: [] } }), { code: 16 })
})

t.test('D602: a single write without the shard key shows every shard that it may go to', async (t) => {
  const cluster = await filled('8.0')
  const explained = await cluster.run({
    explain: { update: 'c', updates: [{ q: { even: true }, u: { $set: { a: 1 } } }] },
    verbosity: 'queryPlanner',
  })
  t.equal(explained['queryPlanner'].winningPlan.stage, 'SHARD_WRITE')
  t.equal(explained['queryPlanner'].winningPlan.shards.length, 3)
})

t.test('aggregate: what shards run, what the router does with it; D605', async (t) => {
  const cluster = await filled('7.0')
  const pipeline = [{ $match: { even: true } }, { $group: { _id: null, n: { $sum: 1 } } }]
  const split = await cluster.run({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'executionStats' })
  t.equal(split['mergeType'], 'mongos')
  t.same(
    split['splitPipeline'].shardsPart.map((stage: Document) => namesOf(stage)[0]),
    ['$match', '$group'],
  )
  t.same(
    split['splitPipeline'].mergerPart.map((stage: Document) => namesOf(stage)[0]),
    ['$mergeCursors', '$group'],
  )
  t.same(namesOf(split['shards']), ['shard01', 'shard02', 'shard03'])
  t.same(namesOf(split['shards'].shard01), ['host', 'explainVersion', 'stages'])
  t.equal(split['shards'].shard01.stages[0].$cursor.executionStats.nReturned, 1)
  const sorted = await cluster.run({ explain: { aggregate: 'c', pipeline: [{ $sort: { _id: 1 } }, { $limit: 2 }], cursor: {} } })
  t.same(sorted['splitPipeline'].mergerPart[0].$mergeCursors.sort, { _id: 1 })
  const whole = await cluster.run({ explain: { aggregate: 'c', pipeline: [{ $match: { x: 5 } }, ...pipeline], cursor: {} } })
  t.equal(whole['splitPipeline'], null)
  t.same(namesOf(whole['shards']), ['shard02'])
  const own = await cluster.run({ aggregate: 'c', pipeline, explain: true })
  t.equal(own['mergeType'], 'mongos')
  t.equal('executionStats' in own['shards'].shard01.stages[0].$cursor, false)
  t.match(await cluster.run({ explain: { aggregate: 'c', pipeline, explain: true } }), { code: 9 })
})

t.test('what cannot be explained', async (t) => {
  const cluster = await filled()
  t.match(await cluster.run({ explain: { insert: 'c', documents: [] } }), { code: 20, errmsg: 'Cannot explain cmd: insert' })
  t.match(await cluster.run({ explain: { nonsense: 1 } }), { code: 59 })
  t.match(await cluster.run({ explain: { find: 'c' }, $db: 'missing' }), { code: 26, errmsg: 'database missing not found' })
  t.match(await cluster.run({ explain: { find: 'c', filter: { $nope: 1 } } }), { ok: 0, code: 2 })
  t.match(await cluster.run({ explain: { find: 'c', hint: 'nope' } }), { ok: 0, code: 2 })
})
