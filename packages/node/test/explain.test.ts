import { decode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { filled, namesOf, stages } from './support/explained.js'
import { shape } from './support/harness.js'

t.test('the fields of explain and their order depend on the version; D604', async (t) => {
  const find = { find: 'c', filter: { a: 2 } }
  const planner: Record<string, string[]> = {
    '4.4': [
      'plannerVersion',
      'namespace',
      'indexFilterSet',
      'parsedQuery',
      'queryHash',
      'planCacheKey',
      'winningPlan',
      'rejectedPlans',
    ],
    '6.0': [
      'namespace',
      'indexFilterSet',
      'parsedQuery',
      'queryHash',
      'planCacheKey',
      'maxIndexedOrSolutionsReached',
      'maxIndexedAndSolutionsReached',
      'maxScansToExplodeReached',
      'winningPlan',
      'rejectedPlans',
    ],
    '7.0': [
      'namespace',
      'indexFilterSet',
      'parsedQuery',
      'queryHash',
      'planCacheKey',
      'optimizationTimeMillis',
      'maxIndexedOrSolutionsReached',
      'maxIndexedAndSolutionsReached',
      'maxScansToExplodeReached',
      'winningPlan',
      'rejectedPlans',
    ],
    '8.0': [
      'namespace',
      'parsedQuery',
      'indexFilterSet',
      'queryHash',
      'planCacheShapeHash',
      'planCacheKey',
      'optimizationTimeMillis',
      'maxIndexedOrSolutionsReached',
      'maxIndexedAndSolutionsReached',
      'maxScansToExplodeReached',
      'prunedSimilarIndexes',
      'winningPlan',
      'rejectedPlans',
    ],
  }
  for (const version of ['4.4', '6.0', '7.0', '8.0'] as const) {
    const reply = await (await filled(version)).ok({ explain: find, verbosity: 'queryPlanner' })
    t.same(namesOf(reply['queryPlanner']), planner[version], version)
    t.same(
      namesOf(reply),
      version === '4.4'
        ? ['queryPlanner', 'serverInfo', 'ok']
        : [
            'explainVersion',
            'queryPlanner',
            ...(version === '8.0' ? ['queryShapeHash'] : []),
            'command',
            'serverInfo',
            'serverParameters',
            'ok',
          ],
    )
    if (version !== '4.4') t.same(reply['command'], { ...find, $db: 'test' })
    t.same(namesOf(reply['serverInfo']), ['host', 'port', 'version', 'gitVersion'])
    t.equal('isCached' in reply['queryPlanner'].winningPlan, version === '8.0')
  }
})

t.test('explain of find shows plan, execution and number types; D603', async (t) => {
  const node = await filled()
  const raw = await node.raw({ explain: { find: 'c', filter: { a: 2 }, sort: { b: -1 }, limit: 3 } })
  const reply = decode(raw)
  t.same(stages(reply['queryPlanner'].winningPlan), ['SORT', 'FETCH', 'IXSCAN'])
  t.same(reply['queryPlanner'].parsedQuery, { a: { $eq: 2 } })
  t.match(reply['executionStats'], {
    executionSuccess: true,
    nReturned: 3,
    executionTimeMillis: 0,
    totalKeysExamined: 4,
    totalDocsExamined: 4,
    executionStages: { stage: 'SORT', nReturned: 3, inputStage: { stage: 'FETCH', nReturned: 4, docsExamined: 4 } },
    allPlansExecution: [],
  })
  t.equal(reply['executionStats'].executionStages.executionTimeMillisEstimate, 0)
  t.equal(reply['explainVersion'], '1')
  t.equal(
    shape(raw, 'executionStats'),
    'executionSuccess:bool nReturned:int executionTimeMillis:int totalKeysExamined:int totalDocsExamined:int executionStages:object allPlansExecution:array',
  )
  t.equal('executionStats' in (await node.ok({ explain: { find: 'c' }, verbosity: 'queryPlanner' })), false)
  t.equal(
    'allPlansExecution' in (await node.ok({ explain: { find: 'c' }, verbosity: 'executionStats' }))['executionStats'],
    false,
  )
})

t.test('the plan shows the options of the command', async (t) => {
  const node = await filled('7.0')
  const plan = async (command: Document) =>
    stages(
      (await node.ok({ explain: { find: 'c', ...command }, verbosity: 'queryPlanner' }))['queryPlanner'].winningPlan,
    )
  t.same(await plan({}), ['COLLSCAN'])
  t.same(await plan({ filter: { _id: 3 } }), ['IDHACK'])
  t.same(await plan({ limit: 2, skip: 1 }), ['LIMIT', 'SKIP', 'COLLSCAN'])
  t.same(await plan({ filter: { a: 1 }, projection: { _id: 0, a: 1 } }), ['PROJECTION_COVERED', 'IXSCAN'])
  t.same(await plan({ filter: { a: 1 }, hint: { $natural: 1 } }), ['COLLSCAN'])
  t.same(await plan({ filter: { a: 1 }, returnKey: true }), ['RETURN_KEY', 'IXSCAN'])
  t.match(await node.run({ explain: { find: 'c', hint: 'nope' } }), { ok: 0, code: 2 })
  const missing = await node.ok({ explain: { find: 'missing' } })
  t.same(missing['queryPlanner'].winningPlan, { stage: 'EOF' })
  t.equal('queryHash' in missing['queryPlanner'], false)
  t.match(missing['executionStats'], {
    executionSuccess: true,
    nReturned: 0,
    executionStages: { stage: 'EOF', isEOF: 1 },
  })
})

t.test('D601: the query hash depends on the shape only', async (t) => {
  const node = await filled()
  const hashOf = async (command: Document) =>
    (await node.ok({ explain: { find: 'c', ...command } }))['queryPlanner'].queryHash as string
  const hash = await hashOf({ filter: { a: 1 } })
  t.match(hash, /^[0-9A-F]{8}$/)
  t.equal(await hashOf({ filter: { a: 2 } }), hash, 'values are not part of it')
  for (const other of [
    { filter: { b: 1 } },
    { filter: { a: { $gt: 1 } } },
    { filter: { a: 1 }, sort: { b: 1 } },
    { filter: { a: 1 }, projection: { b: 1 } },
  ])
    t.not(await hashOf(other), hash, JSON.stringify(other))
})

t.test('D601: the query shape hash also depends on the command and its collection', async (t) => {
  const node = await filled()
  const explained = async (command: Document) => node.ok({ explain: command, verbosity: 'queryPlanner' })
  const hashOf = async (command: Document) => (await explained(command))['queryShapeHash'] as string
  const hash = await hashOf({ find: 'c', filter: { a: 1 } })
  t.match(hash, /^[0-9A-F]{64}$/)
  t.equal(await hashOf({ find: 'c', filter: { a: 7 } }), hash)
  for (const other of [
    { find: 'c', filter: { b: 1 } },
    { find: 'other', filter: { a: 1 } },
    { distinct: 'c', key: 'a', query: { a: 1 } },
    { aggregate: 'c', pipeline: [{ $match: { a: 1 } }], cursor: {} },
  ])
    t.not(await hashOf(other), hash, JSON.stringify(other))
  const grouped = (by: string, n: number) => ({
    aggregate: 'c',
    pipeline: [{ $match: { a: n } }, { $group: { _id: by, n: { $sum: n } } }],
    cursor: {},
  })
  t.equal(await hashOf(grouped('$a', 1)), await hashOf(grouped('$a', 2)))
  t.not(await hashOf(grouped('$a', 1)), await hashOf(grouped('$b', 1)))
  t.same(namesOf(await explained(grouped('$a', 1))), [
    'explainVersion',
    'stages',
    'queryShapeHash',
    'serverInfo',
    'serverParameters',
    'command',
    'ok',
  ])
  t.equal('queryShapeHash' in (await explained({ find: 'c', filter: { _id: 1 } })), false, 'a lookup by _id has none')
  t.equal('queryShapeHash' in (await explained({ count: 'c' })), false)
  t.equal('queryShapeHash' in (await (await filled('7.0')).ok({ explain: { find: 'c' } })), false)
})

t.test('allPlansExecution shows the trial of each plan', async (t) => {
  const explained = async (version: EmulatedVersion, command: Document) => {
    const node = await filled(version)
    await node.ok({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1' }] })
    return (await node.ok({ explain: command })) as Document
  }
  const find = { find: 'c', filter: { a: 2, b: { $gt: 2 } } }
  for (const version of ['5.0', '8.0'] as const) {
    const { queryPlanner, executionStats } = await explained(version, find)
    const scored = version === '8.0' ? ['score'] : []
    const names = [
      'nReturned',
      'executionTimeMillisEstimate',
      'totalKeysExamined',
      'totalDocsExamined',
      ...scored,
      'executionStages',
    ]
    t.same(executionStats.allPlansExecution.map(namesOf), [names, names], version)
    const scans = executionStats.allPlansExecution.map((plan: Document) => plan['executionStages'].inputStage.indexName)
    t.same(scans, [queryPlanner.winningPlan.inputStage.indexName, queryPlanner.rejectedPlans[0].inputStage.indexName])
    t.equal(executionStats.allPlansExecution[0].totalKeysExamined > 0, true)
    t.equal('isCached' in queryPlanner.rejectedPlans[0], version === '8.0')
  }
  const update = await explained('8.0', {
    update: 'c',
    updates: [{ q: find.filter, u: { $set: { z: 1 } }, multi: true }],
  })
  t.equal(update['queryPlanner'].winningPlan.stage, 'UPDATE')
  t.equal(update['queryPlanner'].rejectedPlans[0].stage, 'FETCH', 'the writing stage is above the trial')
  t.equal(update['executionStats'].allPlansExecution.length, 2)
})

t.test('8.0 has EXPRESS stages for lookups without a planner', async (t) => {
  const node = await filled()
  await node.ok({ createIndexes: 'c', indexes: [{ key: { b: 1 }, name: 'b_1', unique: true }] })
  const stageOf = async (command: Document) =>
    (await node.ok({ explain: command, verbosity: 'queryPlanner' }))['queryPlanner'].winningPlan.stage as string
  const find = (more: Document) => stageOf({ find: 'c', ...more })
  t.equal(await find({ filter: { _id: 1 } }), 'EXPRESS_IXSCAN')
  t.equal(await find({ filter: { _id: 1 }, batchSize: 1 }), 'IDHACK')
  t.equal(await find({ filter: { _id: 1 }, skip: 1 }), 'FETCH')
  t.equal(await find({ filter: { b: 1 } }), 'EXPRESS_IXSCAN')
  t.equal(await find({ filter: { b: 1 }, hint: 'b_1' }), 'FETCH')
  t.equal(await find({ filter: { b: 1 }, projection: { a: 1 } }), 'PROJECTION_SIMPLE')
  t.equal(await find({ filter: { a: 1 } }), 'FETCH')
  t.equal(await find({ filter: { a: 1 }, limit: 1 }), 'EXPRESS_IXSCAN')
  const update = async (more: Document) =>
    (await node.ok({
      explain: { update: 'c', updates: [{ q: { _id: 1 }, u: { $set: { b: 1000 } }, ...more }] },
    })) as Document
  t.same((await update({}))['executionStats'].executionStages, {
    isCached: false,
    stage: 'EXPRESS_UPDATE',
    keyPattern: '{ _id: 1 }',
    indexName: '_id_',
    keysExamined: 1,
    docsExamined: 1,
    nReturned: 0,
    nWouldModify: 1,
    nWouldUpsert: 0,
    nWouldDelete: 0,
  })
  t.equal((await update({ upsert: true }))['queryPlanner'].winningPlan.stage, 'UPDATE')
  t.equal((await update({ multi: true }))['queryPlanner'].winningPlan.stage, 'UPDATE')
  t.equal(await stageOf({ delete: 'c', deletes: [{ q: { _id: 1 }, limit: 1 }] }), 'EXPRESS_DELETE')
  t.equal(await stageOf({ delete: 'c', deletes: [{ q: { a: 1 }, limit: 1 }] }), 'DELETE')
})

t.test('the plan shows the collation', async (t) => {
  const node = await filled()
  const { queryPlanner } = await node.ok({
    explain: { find: 'c', filter: { a: 'x' }, collation: { locale: 'en', strength: 2 } },
  })
  t.match(queryPlanner.collation, { locale: 'en', strength: 2, caseLevel: false })
})

t.test('count and distinct have their own stages', async (t) => {
  const node = await filled('7.0')
  const all = await node.ok({ explain: { count: 'c' } })
  t.equal(all['queryPlanner'].winningPlan.stage, 'RECORD_STORE_FAST_COUNT')
  t.match(all['executionStats'].executionStages, { nCounted: 20, nSkipped: 0 })
  const some = await node.ok({ explain: { count: 'c', query: { a: 2 } } })
  t.same(stages(some['queryPlanner'].winningPlan), ['COUNT', 'COUNT_SCAN'])
  t.match(some['executionStats'], { nReturned: 0, executionStages: { nCounted: 4 } })
  const distinct = await node.ok({ explain: { distinct: 'c', key: 'a' } })
  t.same(stages(distinct['queryPlanner'].winningPlan), ['PROJECTION_COVERED', 'DISTINCT_SCAN'])
  t.equal(distinct['executionStats'].nReturned, 5)
})

t.test('explain of a write counts its changes without making them', async (t) => {
  const node = await filled('7.0')
  const update = await node.ok({
    explain: { update: 'c', updates: [{ q: { a: 2 }, u: { $set: { b: 7 } }, multi: true }] },
  })
  t.same(stages(update['queryPlanner'].winningPlan), ['UPDATE', 'FETCH', 'IXSCAN'])
  t.match(update['executionStats'].executionStages, {
    stage: 'UPDATE',
    nReturned: 0,
    nMatched: 4,
    nWouldModify: 3,
    nWouldUpsert: 0,
  })
  const one = await node.ok({ explain: { update: 'c', updates: [{ q: { a: 2 }, u: { $set: { z: 1 } } }] } })
  t.match(one['executionStats'].executionStages, { nMatched: 1, nWouldModify: 1 })
  const upsert = await node.ok({
    explain: { update: 'c', updates: [{ q: { a: 99 }, u: { $set: { z: 1 } }, upsert: true }] },
  })
  t.match(upsert['executionStats'].executionStages, { nMatched: 0, nWouldUpsert: 1 })
  const removal = await node.ok({ explain: { delete: 'c', deletes: [{ q: { a: 2 }, limit: 0 }] } })
  t.match(removal['executionStats'].executionStages, { stage: 'DELETE', nWouldDelete: 4 })
  const modify = await node.ok({ explain: { findAndModify: 'c', query: { a: 2 }, sort: { b: -1 }, remove: true } })
  t.same(stages(modify['queryPlanner'].winningPlan), ['DELETE', 'SORT', 'FETCH', 'IXSCAN'])
  t.match(modify['executionStats'], { nReturned: 1, executionStages: { nWouldDelete: 1 } })
  t.equal((await node.ok({ count: 'c', query: { b: 7 } }))['n'], 1, 'nothing has changed')
  t.equal((await node.ok({ count: 'c' }))['n'], 20)
  t.match(await node.run({ explain: { update: 'c', updates: [] } }), { code: 16 })
  t.match(
    await node.run({
      explain: {
        delete: 'c',
        deletes: [
          { q: {}, limit: 0 },
          { q: {}, limit: 0 },
        ],
      },
    }),
    { code: 16 },
  )
  t.same(
    (await node.ok({ explain: { delete: 'missing', deletes: [{ q: {}, limit: 0 }] } }))['queryPlanner'].winningPlan,
    { stage: 'EOF' },
  )
})

t.test('commands that cannot be explained are refused', async (t) => {
  const node = await filled('7.0')
  t.match(await node.run({ explain: { insert: 'c', documents: [] } }), {
    code: 20,
    errmsg: 'Cannot explain cmd: insert',
  })
  t.match(await node.run({ explain: { nonsense: 1 } }), {
    code: 59,
    errmsg: 'Explain failed due to unknown command: nonsense',
  })
  t.match(await node.run({ explain: 'c' }), { code: 14 })
  t.match(await node.run({ explain: { find: 'c' }, verbosity: 'loud' }), { code: 2 })
  t.match(await (await filled('4.4')).run({ explain: { find: 'c' }, verbosity: 'loud' }), { code: 9 })
  t.match(await node.run({ explain: { find: 'c', $db: 'other' } }), { code: 73 })
  t.match(await node.run({ explain: { find: 'c', nonsense: 1 } }), { code: 40415 })
  t.match(await node.run({ explain: { find: 'c', filter: { $nope: 1 } } }), { code: 2 })
})

t.test('the statistics of a failed plan have its error', async (t) => {
  const node = await filled('7.0')
  const { executionStats } = await node.ok({
    explain: { find: 'c', filter: { $expr: { $gt: [{ $add: ['$a', 'x'] }, 0] } } },
  })
  t.match(executionStats, { executionSuccess: false, errorCode: 14 })
  t.equal(typeof executionStats.errorMessage, 'string')
})
