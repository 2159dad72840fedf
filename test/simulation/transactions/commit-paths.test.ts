import type { Document } from '@shardlab/bson'
import type { SimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { admin, ask, start } from '../two-shard-cluster.js'
import { transaction } from './transaction.js'

const set = (x: number, value: number): Document => ({
  update: 'things',
  updates: [{ q: { x }, u: { $set: { value } } }],
})

async function values(cluster: SimulatedCluster): Promise<Document> {
  const { cursor } = await ask(cluster, { find: 'things', sort: { x: 1 } }, 'mongos02')
  const found = (cursor as { firstBatch: Document[] }).firstBatch
  return Object.fromEntries(found.map(({ x, value }) => [x, value ?? null]))
}

const commitTypes = async (cluster: SimulatedCluster): Promise<Document> => {
  const { transactions } = await admin(cluster, { serverStatus: 1 })
  const types = (transactions as Document)['commitTypes'] as Record<string, Document>
  return Object.fromEntries(
    Object.entries(types).flatMap(([name, { successful }]) =>
      Number(successful) > 0 ? [[name, Number(successful)]] : [],
    ),
  )
}

t.test('a transaction on one shard', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1)
  t.match(await txn(set(1, 5)), { ok: 1, nModified: 1, recoveryToken: { recoveryShardId: 'shard02' } })
  t.match(await txn({ find: 'things', filter: { x: 1 } }), { cursor: { firstBatch: [{ value: 5 }] } })
  t.same(await values(cluster), { '-2': null, '-1': null, '1': null, '2': null })
  t.match(await txn.commit(), { ok: 1, recoveryToken: { recoveryShardId: 'shard02' } })
  t.match(await txn.commit(), { ok: 1 })
  t.same(await values(cluster), { '-2': null, '-1': null, '1': 5, '2': null })
  t.match(await txn({ find: 'things' }), { code: 256 })
  t.same(await commitTypes(cluster), { singleShard: 1 })
})

t.test('reads on two shards, and one shard that writes', async (t) => {
  const cluster = await start(t)
  const reads = transaction(cluster, 1)
  t.match(await reads({ find: 'things' }), { ok: 1, recoveryToken: {} })
  t.match(await reads.commit(), { ok: 1 })
  const writes = transaction(cluster, 2)
  t.match(await writes({ aggregate: 'things', pipeline: [{ $match: {} }], cursor: {} }), { ok: 1 })
  t.match(await writes(set(-1, 7)), { ok: 1, recoveryToken: { recoveryShardId: 'shard01' } })
  t.match(await writes.commit(), { ok: 1 })
  t.same(await values(cluster), { '-2': null, '-1': 7, '1': null, '2': null })
  const nothing = transaction(cluster, 3)
  t.match(await nothing({ find: 'none', $db: 'nowhere' }), { ok: 1 })
  t.match(await nothing.commit(), { ok: 1 })
  t.same(await commitTypes(cluster), { noShards: 1, readOnly: 1, singleWriteShard: 1 })
})

t.test('a repeated commit finds the outcome although a shard that only read has forgotten it', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1)
  t.match(await txn({ find: 'things' }), { ok: 1 })
  t.match(await txn(set(-1, 7)), { ok: 1, recoveryToken: { recoveryShardId: 'shard01' } })
  t.match(await txn.commit(), { ok: 1 })
  await cluster.crash('shard02')
  await cluster.restart('shard02')
  t.match(await txn.commit(), { ok: 1 })
  t.match(await values(cluster), { '-1': 7 })
})

t.test('an error on one shard aborts on all', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1)
  t.match(await txn(set(-1, 1)), { ok: 1 })
  t.match(await txn({ insert: 'things', documents: [{ _id: 1, x: 1 }] }), { writeErrors: [{ code: 11000 }] })
  t.match(await txn(set(-1, 2)), { ok: 0, code: 251, errorLabels: ['TransientTransactionError'] })
  t.match(await txn.commit(), { ok: 0, code: 251 })
  t.match(await ask(cluster, set(-1, 3)), { ok: 1, nModified: 1 }, 'no transaction holds the document')
  const aborted = transaction(cluster, 2)
  await aborted(set(1, 1))
  t.match(await aborted.abort(), { ok: 1 })
  t.match(await aborted.commit(), { ok: 0, code: 251 })
  t.same(await values(cluster), { '-2': null, '-1': 3, '1': null, '2': null })
})

t.test('conflicts are transient', async (t) => {
  const cluster = await start(t)
  const [one, two] = [transaction(cluster, 1), transaction(cluster, 2)]
  await one(set(1, 1))
  t.match(await two(set(1, 2), 'mongos02'), { ok: 0, code: 112, errorLabels: ['TransientTransactionError'] })
  t.match(await one.commit(), { ok: 1 })
})

t.test('the first statement is routed again when the router is stale', async (t) => {
  const cluster = await start(t)
  t.match(await ask(cluster, { find: 'things' }, 'mongos02'), { ok: 1 })
  await admin(cluster, { moveChunk: 'app.things', find: { x: 1 }, to: 'shard01', _waitForDelete: true })
  const txn = transaction(cluster, 1)
  t.match(await txn(set(1, 1), 'mongos02'), { ok: 1, nModified: 1 })
  t.match(await txn.commit('mongos02'), { ok: 1 })
  t.match(await values(cluster), { '1': 1 })
})

for (const members of [1, 3])
  t.test(`a participant merges the results of an aggregate, ${members} members`, async (t) => {
    const cluster = await start(t, { members })
    const txn = transaction(cluster, 1)
    for (const x of [-1, 1]) t.match(await txn(set(x, 3)), { ok: 1 })
    const pipeline = [{ $group: { _id: '$value', n: { $sum: 1 } } }, { $sort: { n: 1 } }]
    // The merging shard is drawn at random.
    for (let i = 0; i < 8; i++)
      t.match(await txn({ aggregate: 'things', pipeline, cursor: { batchSize: 1 }, allowDiskUse: true }), {
        ok: 1,
        cursor: { firstBatch: [{ n: 2 }] },
      })
    t.match(await txn.commit(), { ok: 1 })
    t.same(await values(cluster), { '-2': null, '-1': 3, '1': 3, '2': null })
  })

t.test('an update that moves a document to another shard', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1)
  const move = { update: 'things', updates: [{ q: { x: -1 }, u: { $set: { x: 11, value: 3 } } }] }
  t.match(await txn(move), { ok: 1, n: 1, nModified: 1 })
  t.match(await txn({ find: 'things', filter: { x: 11 } }), { cursor: { firstBatch: [{ _id: -1, value: 3 }] } })
  const modify = { findAndModify: 'things', query: { x: 2 }, update: { $set: { x: -12 } }, new: true }
  t.match(await txn(modify), { ok: 1, value: { _id: 2, x: -12 } })
  t.same(await values(cluster), { '-2': null, '-1': null, '1': null, '2': null })
  t.match(await txn.commit(), { ok: 1 })
  t.same(await values(cluster), { '-12': null, '-2': null, '1': null, '11': 3 })
})

t.test('currentOp and serverStatus show transactions', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1, 1, { readConcern: { level: 'snapshot' } })
  await txn(set(-1, 1))
  await cluster.advance(1000)
  await txn({ find: 'things', filter: { x: 1 } })
  const operations = async (to: string, match: Document): Promise<Document[]> => {
    const pipeline = [{ $currentOp: { localOps: true } }, { $match: match }]
    return (await admin(cluster, { aggregate: 1, pipeline, cursor: {} }, to))['cursor'].firstBatch
  }
  const [onRouter, ...more] = await operations('mongos01', { type: 'idleSession' })
  t.same(more, [])
  t.match(onRouter, {
    desc: 'inactive transaction',
    active: false,
    lsid: {},
    transaction: {
      parameters: { txnNumber: 1, autocommit: false, readConcern: { level: 'snapshot' } },
      globalReadTimestamp: {},
      numParticipants: 2,
      participants: [
        { name: 'shard01', coordinator: true, readOnly: false },
        { name: 'shard02', coordinator: false, readOnly: true },
      ],
      numReadOnlyParticipants: 1,
      numNonReadOnlyParticipants: 1,
      commitType: undefined,
    },
  })
  t.ok(onRouter!['transaction'].timeOpenMicros >= 1_000_000)
  t.ok(onRouter!['transaction'].timeInactiveMicros >= 1_000_000)
  await txn(set(1, 1))
  const hold = await cluster.steps.arm('shard.transaction.voted', 'hold', { times: 1 })
  const committing = txn.commit()
  await cluster.steps.struck(hold)
  const committingOps = await operations('mongos01', { 'command.commitTransaction': 1 })
  t.match(committingOps, [{ type: 'op', transaction: { commitType: 'twoPhaseCommit' } }])
  t.match(await operations('shard02', { type: 'idleSession' }), [
    { transaction: { timePreparedMicros: Number, expiryTime: String, parameters: { txnNumber: 1 } } },
  ])
  const coordinators = async () => (await admin(cluster, { serverStatus: 1 }, 'shard01'))['twoPhaseCommitCoordinator']
  t.match(await coordinators(), {
    totalCreated: 1,
    totalStartedTwoPhaseCommit: 1,
    totalCommittedTwoPhaseCommit: 0,
    currentInSteps: { waitingForVotes: 1, writingDecision: 0 },
  })
  await cluster.advance(1000)
  const ofCoordinators = await operations('shard01', { desc: 'transaction coordinator' })
  t.match(ofCoordinators, [
    {
      twoPhaseCommitCoordinator: {
        txnNumber: 1,
        txnRetryCounter: 0,
        numParticipants: 2,
        state: 'waitingForVotes',
        commitStartTime: Date,
        hasRecoveredFromFailover: false,
        deadline: Date,
        decision: undefined,
      },
    },
  ])
  const { stepDurations, commitStartTime, deadline } = ofCoordinators[0]!['twoPhaseCommitCoordinator']
  t.same(Object.keys(stepDurations), [
    'writingParticipantListMicros',
    'totalCommitDurationMicros',
    'waitingForVotesMicros',
  ])
  t.ok(stepDurations.waitingForVotesMicros >= 1_000_000)
  t.ok(deadline - commitStartTime >= 60_000)
  await cluster.steps.heal(hold)
  t.match(await committing, { ok: 1 })
  t.match(await coordinators(), {
    totalCommittedTwoPhaseCommit: 1,
    totalAbortedTwoPhaseCommit: 0,
    currentInSteps: { waitingForVotes: 0, writingDecision: 0, waitingForDecisionAcks: 0, deletingCoordinatorDoc: 0 },
  })
  t.same(await operations('shard02', { type: 'idleSession' }), [])
  t.same(await operations('mongos01', { type: 'idleSession' }), [])
  t.same(await operations('shard01', { desc: 'transaction coordinator' }), [])
})

t.test('reads wait for the documents that a prepared transaction changes, and for no others', async (t) => {
  const cluster = await start(t)
  const txn = transaction(cluster, 1)
  for (const x of [-1, 1]) await txn(set(x, 3))
  const hold = await cluster.steps.arm('shard.transaction.voted', 'hold', { times: 1 })
  const committing = txn.commit()
  await cluster.steps.struck(hold)
  const { operationTime } = await ask(cluster, { ping: 1, $db: 'admin' })
  const later = { readConcern: { level: 'local', afterClusterTime: operationTime }, maxTimeMS: 500 }
  const other = { filter: { x: 2 }, ...later }
  t.match(await ask(cluster, { find: 'things', filter: { x: 1 }, ...later }), { ok: 0, code: 50 })
  t.match(await ask(cluster, { find: 'things', filter: { value: 3 }, ...later }), { ok: 0, code: 50 }, 'a scan')
  t.match(await ask(cluster, { find: 'things', ...other }), { ok: 1 }, 'not another document')
  t.match(await ask(cluster, { aggregate: 'others', pipeline: [], cursor: {}, ...later }), { ok: 1 })
  t.match(await ask(cluster, { find: 'others', ...other }), { ok: 1 }, 'not another collection')
  t.match(await ask(cluster, { find: 'things', filter: { x: 1 } }), { ok: 1 }, 'not without a time')
  await cluster.steps.heal(hold)
  t.match(await committing, { ok: 1 })
  t.match(await ask(cluster, { find: 'things', ...other }), { ok: 1 })
})

t.test('reads at a time wait for prepared transactions on secondaries, too', async (t) => {
  const cluster = await start(t, { members: 3 })
  const txn = transaction(cluster, 1)
  for (const x of [-1, 1]) await txn(set(x, 3))
  const hold = await cluster.steps.arm('shard.transaction.voted', 'hold', { times: 1 })
  const committing = txn.commit()
  await cluster.steps.struck(hold)
  // The shard that replies has prepared, so this time is not before its prepare.
  const { operationTime } = await ask(cluster, { find: 'things', filter: { x: 1 } })
  const find = { find: 'things', filter: { x: 1 }, $readPreference: { mode: 'secondary' } }
  for (const level of ['local', 'majority', 'snapshot']) {
    const readConcern =
      level === 'snapshot' ? { level, atClusterTime: operationTime } : { level, afterClusterTime: operationTime }
    const later = { ...find, readConcern }
    t.match(await ask(cluster, { ...later, maxTimeMS: 500 }), { ok: 0, code: 50 }, level)
    const other = { ...later, filter: { x: 2 }, maxTimeMS: 5000 }
    t.match(await ask(cluster, other), { ok: 1 }, `${level}: another document`)
  }
  t.match(await ask(cluster, find), { cursor: { firstBatch: [{ x: 1, value: undefined }] } }, 'not without a time')
  const readConcern = { level: 'majority', afterClusterTime: operationTime }
  const waiting = ask(cluster, { ...find, readConcern })
  await cluster.advance(100)
  await cluster.steps.heal(hold)
  t.match(await committing, { ok: 1 })
  t.match(await waiting, { cursor: { firstBatch: [{ x: 1, value: 3 }] } })
})
