import { decode, UUID, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { RealCluster } from './support/real-cluster.js'

async function filled(emulate: EmulatedVersion = '8.0'): Promise<RealCluster> {
  const cluster = await RealCluster.create({ emulate })
  const documents = [-5, -1, 5, 50, 99, 200, 300].map((x, i) => ({ _id: i, x, even: i % 2 === 0 }))
  await cluster.run({ insert: 'c', documents })
  await cluster.run({ insert: 'plain', documents })
  return cluster
}

const namesOf = (document: unknown) => Object.keys(document as Document)

t.test('explain shows the stage of the router for one shard, several shards, and several with a sort', async (t) => {
  const cluster = await filled()
  const explained = async (command: Document, verbosity = 'queryPlanner') =>
    cluster.run({ explain: { find: 'c', ...command }, verbosity })
  const one = await explained({ filter: { x: 5 } })
  t.equal(one['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD')
  t.same(
    one['queryPlanner'].winningPlan.shards.map((shard: Document) => shard['shardName']),
    ['shard02'],
  )
  t.match(one['queryPlanner'].winningPlan.shards[0], {
    connectionString: 'shard02/127.0.0.1:5001',
    namespace: 'test.c',
  })
  t.same(namesOf(one['queryPlanner'].winningPlan.shards[0]).slice(0, 5), [
    'explainVersion',
    'shardName',
    'connectionString',
    'serverInfo',
    'namespace',
  ])
  t.same(namesOf(one['queryPlanner']), ['winningPlan'])
  const several = await explained({ filter: { x: { $gte: 50 } } })
  t.equal(several['queryPlanner'].winningPlan.stage, 'SHARD_MERGE')
  t.same(
    several['queryPlanner'].winningPlan.shards.map((shard: Document) => shard['shardName']),
    ['shard02', 'shard03'],
  )
  t.match(several['queryPlanner'].winningPlan.shards[0].winningPlan, {
    stage: 'SHARDING_FILTER',
    inputStage: { stage: 'COLLSCAN' },
  })
  t.equal((await explained({ sort: { _id: 1 } }))['queryPlanner'].winningPlan.stage, 'SHARD_MERGE_SORT')
  t.same(namesOf(several), [
    'queryPlanner',
    'queryShapeHash',
    'serverInfo',
    'serverParameters',
    'command',
    'ok',
    '$clusterTime',
    'operationTime',
  ])
  t.same(several['command'], { find: 'c', filter: { x: { $gte: 50 } }, $db: 'test' })
  const plain = await cluster.run({ explain: { find: 'plain', filter: { even: true } }, verbosity: 'queryPlanner' })
  t.equal(plain['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD', 'what is not sharded is on one')
  t.match(plain['queryPlanner'].winningPlan.shards[0].winningPlan, { stage: 'COLLSCAN' })
})

t.test('execution statistics are the sums of the shards', async (t) => {
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
  t.same(namesOf(executionStats.executionStages.shards[0]), [
    'shardName',
    'executionSuccess',
    'nReturned',
    'executionTimeMillis',
    'totalKeysExamined',
    'totalDocsExamined',
    'executionStages',
    'allPlansExecution',
  ])
  t.match(
    executionStats.executionStages.shards.map(({ shardName, executionSuccess }: Document) => [
      shardName,
      executionSuccess,
    ]),
    [
      ['shard01', true],
      ['shard02', true],
      ['shard03', true],
    ],
  )
  t.same(executionStats.allPlansExecution[0], { shardName: 'shard01', allPlans: [] })
  const planned = await cluster.run({ explain: { find: 'c' }, verbosity: 'queryPlanner' })
  t.equal('executionStats' in planned, false)
  t.same(namesOf(planned['queryPlanner']), ['mongosPlannerVersion', 'winningPlan'])
  t.equal(namesOf(planned['queryPlanner'].winningPlan.shards[0])[0], 'shardName')
})

t.test('the command is shown with the generic arguments of the explain', async (t) => {
  const cluster = await filled()
  const lsid = { id: new UUID(Buffer.alloc(16, 7)) }
  const { command } = await cluster.run({
    explain: { find: 'c', comment: 'inner' },
    verbosity: 'queryPlanner',
    lsid,
    comment: 'outer',
  })
  t.same(namesOf(command), ['find', 'comment', 'lsid', '$db'])
  t.equal(command.comment, 'inner')
})

t.test('count, distinct and writes are explained', async (t) => {
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

t.test('the explain of a single write without the shard key has the search and the write on one shard', async (t) => {
  const cluster = await filled()
  const explained = (command: Document, verbosity = 'executionStats') => cluster.run({ explain: command, verbosity })
  const commands: [Document, searching: string, writing: RegExp][] = [
    [{ update: 'c', updates: [{ q: { even: true }, u: { $set: { a: 1 } } }] }, 'SHARD_MERGE', /UPDATE$/],
    [{ delete: 'c', deletes: [{ q: { even: true }, limit: 1 }] }, 'SHARD_MERGE', /DELETE$/],
    [{ findAndModify: 'c', query: { even: true }, update: { $set: { a: 1 } } }, 'SHARD_MERGE', /UPDATE$/],
    [{ findAndModify: 'c', query: { even: true }, sort: { x: 1 }, remove: true }, 'SHARD_MERGE_SORT', /DELETE$/],
  ]
  for (const [command, searching, writing] of commands) {
    const text = JSON.stringify(command)
    const { queryPlanner, executionStats, command: shown } = await explained(command)
    const { winningPlan } = queryPlanner
    t.same(namesOf(winningPlan), ['stage', 'shards', 'inputStage'], text)
    t.equal(winningPlan.stage, 'SHARD_WRITE')
    t.equal(winningPlan.shards.length, 1)
    t.match(winningPlan.shards[0].winningPlan.stage, writing)
    t.equal(winningPlan.inputStage.winningPlan.stage, searching)
    t.equal(winningPlan.inputStage.winningPlan.shards.length, 3)
    t.equal(namesOf(executionStats).at(-1), 'inputStage')
    t.equal(executionStats.executionStages.stage, 'SHARD_WRITE')
    t.equal(executionStats.nReturned, 0, 'it is explained for a document that there is not')
    t.match(executionStats.inputStage, { nReturned: 3, executionStages: { stage: searching } }, 'each shard has one')
    for (const [name, value] of Object.entries(command)) t.same(shown[name], value, text)
    t.notOk('executionStats' in (await explained(command, 'queryPlanner')))
  }
  const upsert = await explained({
    update: 'c',
    updates: [{ q: { even: 'no' }, u: { $set: { a: 1 } }, upsert: true }],
  })
  t.match(upsert['executionStats'].executionStages.shards[0].executionStages, { nWouldModify: 0, nWouldUpsert: 1 })
  t.equal(upsert['executionStats'].inputStage.nReturned, 0)
  const position = await explained(
    { update: 'c', updates: [{ q: { even: true, list: 1 }, u: { $set: { 'list.$': 2 } } }] },
    'queryPlanner',
  )
  t.match(
    JSON.stringify(position['queryPlanner'].winningPlan.shards[0].parsedQuery),
    /list/,
    'the filter that finds the element stays',
  )
  const single = await explained({ findAndModify: 'c', query: { x: { $gt: 150 } }, remove: true }, 'queryPlanner')
  t.equal(single['queryPlanner'].winningPlan.stage, 'SINGLE_SHARD', 'what leads to one shard needs no search')
  t.equal((await cluster.run({ count: 'c' }))['n'], 7, 'nothing was written')
})

t.test(
  'in a missing database explain creates it for update and delete, is empty for aggregate, else fails',
  async (t) => {
    for (const emulate of ['4.0', '4.4', '7.0', '8.0'] as const) {
      const writes: readonly Document[] = [
        { update: 'c', updates: [{ q: { x: 1 }, u: { $set: { a: 1 } } }] },
        { delete: 'c', deletes: [{ q: { x: 1 }, limit: 1 }] },
      ]
      const others: readonly Document[] = [
        { find: 'c' },
        { count: 'c' },
        { distinct: 'c', key: 'x' },
        { findAndModify: 'c', query: {}, remove: true },
      ]
      const cluster = await filled(emulate)
      for (const command of others)
        t.match(await cluster.run({ explain: command, $db: 'none' }), { code: 26 }, JSON.stringify(command))
      const empty = { cursor: { firstBatch: [], ns: 'none.c' }, ok: 1 }
      const aggregate = { aggregate: 'c', pipeline: [{ $match: { x: 1 } }] }
      t.match(await cluster.run({ explain: { ...aggregate, cursor: {} }, $db: 'none' }), empty)
      t.match(await cluster.run({ ...aggregate, explain: true, $db: 'none' }), empty)
      t.match(await cluster.run({ explain: { find: 'c' }, $db: 'none' }), { code: 26 }, 'an aggregate creates nothing')
      for (const [i, command] of writes.entries()) {
        const $db = `none${i}`
        const { queryPlanner } = await cluster.run({ explain: command, $db })
        t.equal(queryPlanner.winningPlan.stage, 'SHARD_WRITE', JSON.stringify(command))
        t.match(await cluster.run({ explain: { find: 'c' }, $db }), { ok: 1 }, 'the database is there')
      }
    }
  },
)

t.test('D605 an explained aggregate shows the part of the shards and the merging part', async (t) => {
  const cluster = await filled('7.0')
  const pipeline = [{ $match: { even: true } }, { $group: { _id: null, n: { $sum: 1 } } }]
  const split = await cluster.run({ explain: { aggregate: 'c', pipeline, cursor: {} }, verbosity: 'executionStats' })
  t.equal(split['mergeType'], 'anyShard')
  t.same(namesOf(split).slice(0, 6), [
    'serverInfo',
    'serverParameters',
    'mergeType',
    'splitPipeline',
    'shards',
    'command',
  ])
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
  const sorted = await cluster.run({
    explain: { aggregate: 'c', pipeline: [{ $sort: { _id: 1 } }, { $limit: 2 }], cursor: {} },
  })
  t.same(sorted['splitPipeline'].mergerPart[0].$mergeCursors.sort, { _id: 1 })
  const whole = await cluster.run({
    explain: { aggregate: 'c', pipeline: [{ $match: { x: 5 } }, ...pipeline], cursor: {} },
  })
  t.equal(whole['splitPipeline'], null)
  t.same(namesOf(whole['shards']), ['shard02'])
  const unsharded = await cluster.run({ explain: { aggregate: 'plain', pipeline, cursor: {} } })
  t.same(namesOf(unsharded).slice(0, 5), ['serverInfo', 'serverParameters', 'explainVersion', 'stages', 'command'])
  const modern = await filled('8.0')
  const inShards = await modern.run({ explain: { aggregate: 'plain', pipeline, cursor: {} } })
  t.same(namesOf(inShards).slice(0, 6), [
    'serverInfo',
    'serverParameters',
    'splitPipeline',
    'shards',
    'queryShapeHash',
    'command',
  ])
  const own = await cluster.run({ aggregate: 'c', pipeline, explain: true })
  t.equal(own['mergeType'], 'anyShard')
  t.equal('executionStats' in own['shards'].shard01.stages[0].$cursor, false)
  t.match(await cluster.run({ explain: { aggregate: 'c', pipeline, explain: true } }), { code: 9 })
})

t.test('a query for one shard key needs no shard filter, and writes have none', async (t) => {
  const cluster = await filled('7.0')
  const stagesOf = (plan: Document): string[] => [
    plan['stage'],
    ...(plan['inputStage'] === undefined ? [] : stagesOf(plan['inputStage'])),
  ]
  const planOf = async (command: Document) =>
    stagesOf(
      (await cluster.run({ explain: command, verbosity: 'queryPlanner' }))['queryPlanner'].winningPlan.shards[0]
        .winningPlan,
    )
  t.notMatch((await planOf({ find: 'c', filter: { x: 5 } })).join(), 'SHARDING_FILTER')
  t.match((await planOf({ find: 'c', filter: { x: { $gte: 5, $lt: 6 } } })).join(), 'SHARDING_FILTER')
  t.notMatch((await planOf({ count: 'c', query: { x: 5 } })).join(), 'SHARDING_FILTER')
  t.notMatch((await planOf({ delete: 'c', deletes: [{ q: { even: true }, limit: 0 }] })).join(), 'SHARDING_FILTER')
  t.equal((await cluster.run({ count: 'c', query: { x: 5 } }))['n'], 1)
})

t.test('commands without an explain are refused', async (t) => {
  const cluster = await filled()
  t.match(await cluster.run({ explain: { insert: 'c', documents: [] } }), {
    code: 20,
    errmsg: 'Cannot explain cmd: insert',
  })
  t.match(await cluster.run({ explain: { nonsense: 1 } }), { code: 59 })
  t.match(await cluster.run({ explain: { find: 'c' }, $db: 'missing' }), {
    code: 26,
    errmsg: 'database missing not found',
  })
  t.match(await cluster.run({ explain: { find: 'c', filter: { $nope: 1 } } }), { ok: 0, code: 2 })
  t.match(await cluster.run({ explain: { find: 'c', hint: 'nope' } }), { ok: 0, code: 2 })
})

t.test('the explain of an aggregate on an unsharded collection is that of its shard', async (t) => {
  const cluster = await filled('7.0')
  const pipeline = [{ $match: { even: true } }, { $group: { _id: null, n: { $sum: 1 } } }]
  const explained = await cluster.run({
    explain: { aggregate: 'plain', pipeline, cursor: {} },
    verbosity: 'executionStats',
  })
  for (const name of ['splitPipeline', 'shards', 'mergeType']) t.notOk(name in explained, `no ${name}`)
  t.equal(explained['stages'][0].$cursor.executionStats.nReturned, 4)
  t.equal(explained['ok'], 1)
  t.same(
    Object.keys(explained).filter((name) => name === 'ok' || name === '$clusterTime').length,
    2,
    'the times are given once',
  )
})
