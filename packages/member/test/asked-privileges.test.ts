/** Commands that ask for privileges by a function of their arguments, in odd forms of them. */
import type { AccessQuestion } from '@shardlab/actor'
import { Decimal128, encode, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { applyOpsPrivileges } from '../src/access/apply-ops-privileges.js'
import { collModPrivileges } from '../src/access/definition-privileges.js'
import { aggregatePrivileges } from '../src/access/pipeline-privileges.js'
import { bulkWritePrivileges, updatePrivileges } from '../src/access/write-privileges.js'
import { answerTo, secretUuid, twice } from './support/asked.js'

t.test('bulkWrite asks for the namespace that it writes to, whatever the number', async (t) => {
  const may = { 'shop.rows': ['insert', 'update', 'remove'] }
  const nsInfo = [{ ns: 'admin.system.users' }, { ns: 'shop.rows' }]
  const ask = (ops: Document[]) => answerTo({ by: bulkWritePrivileges, body: { bulkWrite: 1, ops, nsInfo }, may })
  for (const position of [0, 0.5, -0.5, NaN, Decimal128.fromString('0.5'), Decimal128.fromString('NaN')]) {
    t.equal(ask([{ insert: position, document: {} }]), false, `insert ${String(position)}`)
    t.equal(ask([{ update: position, filter: {}, updateMods: {} }]), false)
    t.equal(ask([{ delete: position, filter: {} }]), false)
  }
  for (const position of [1, 1.9, Decimal128.fromString('1.5')])
    t.equal(ask([{ insert: position, document: {} }]), true, `insert ${String(position)}`)
  t.equal(ask([{ insert: 2, document: {} }]), 'BadValue')
  t.equal(ask([{ insert: -1, document: {} }]), 'BadValue')
  t.equal(ask([{ insert: '0', document: {} }]), 'TypeMismatch')
  t.equal(ask([{ replace: 0, document: {} }]), 'IDLUnknownField')
  const sequences: AccessQuestion['sequences'] = [
    ['ops', [encode({ insert: 0.5, document: {} })]],
    ['nsInfo', nsInfo.map((each) => encode(each))],
  ]
  t.equal(answerTo({ by: bulkWritePrivileges, body: { bulkWrite: 1 }, sequences, may }), false)
})

t.test('applyOps asks for find on the collection of each precondition', (t) => {
  const may = { cluster: ['applyOps'], 'shop.rows': ['find', 'insert'] }
  const command = (...namespaces: unknown[]) => ({
    applyOps: [{ op: 'i', ns: 'shop.rows', o: { _id: 1 } }],
    preCondition: namespaces.map((ns) => ({ ns, q: {}, res: {} })),
  })
  const ask = (body: Document) => answerTo({ by: applyOpsPrivileges, body, db: 'admin', may, version: '6.0' })
  t.equal(ask(command('shop.rows')), true)
  t.equal(ask(command('shop.secrets')), false)
  t.equal(ask(command('shop.rows', 'shop.secrets')), false)
  t.equal(ask(command('shop.rows', 1)), true, 'fails when it is read')
  t.equal(ask({ applyOps: [{ op: 'c', ns: 'admin.$cmd', o: command('shop.secrets') }] }), false, 'nested')
  t.end()
})

t.test('applyOps refuses commands that ask for nothing', (t) => {
  const may = { cluster: ['applyOps'], 'shop.rows': ['dropIndex'] }
  const ask = (o: unknown) =>
    answerTo({ by: applyOpsPrivileges, body: { applyOps: [{ op: 'c', ns: 'shop.$cmd', o }] }, db: 'admin', may })
  t.equal(ask({ dropIndexes: 'rows', index: '*' }), true)
  t.equal(ask({ dropIndexes: 'secrets', index: '*' }), false)
  for (const o of [{ dropIndex: 'rows' }, { deleteIndex: 'rows' }, { unknown: 1 }, {}, 1, undefined])
    t.equal(ask(o), 'FailedToParse', JSON.stringify(o))
  t.end()
})

t.test('collMod changes both parts of a view, and shows what its client may read', (t) => {
  const may = { cluster: ['applyOps'], 'shop.view': ['collMod', 'find'], 'shop.rows': ['find'] }
  const lookup = { $lookup: { from: 'secrets', localField: 'a', foreignField: 'a', as: 'a' } }
  for (const [options, answer] of [
    [{ viewOn: 'rows', pipeline: [] }, true],
    [{ viewOn: 'secrets', pipeline: [] }, false],
    [{ viewOn: 'rows', pipeline: [lookup] }, false],
    [{ pipeline: [lookup] }, 'InvalidOptions'],
    [{ viewOn: 'secrets' }, 'InvalidOptions'],
    [{ viewOn: null, pipeline: [lookup] }, false],
    [{ viewOn: 'rows', pipeline: null }, false],
    [{ viewOn: 'rows', pipeline: {} }, false],
  ] as const) {
    const body = { collMod: 'view', ...options }
    t.equal(answerTo({ by: collModPrivileges, body, may }), answer, JSON.stringify(options))
    const applyOps = [{ op: 'c', ns: 'shop.$cmd', o: body }]
    t.equal(answerTo({ by: applyOpsPrivileges, body: { applyOps }, db: 'admin', may }), answer, 'in applyOps')
  }
  t.equal(answerTo({ by: collModPrivileges, body: { collMod: 'view', viewOn: 'rows', pipeline: [] } }), false)
  t.end()
})

t.test('applyOps asks for the collection that has the UUID', (t) => {
  const actions = ['insert', 'update', 'remove', 'dropCollection', 'dropIndex', 'collMod']
  const operations = [
    { op: 'i', ns: 'shop.rows', o: { _id: 1 } },
    { op: 'u', ns: 'shop.rows', o2: { _id: 1 }, o: { $set: { a: 1 } } },
    { op: 'd', ns: 'shop.rows', o: { _id: 1 } },
    { op: 'c', ns: 'shop.$cmd', o: { dropIndexes: 'rows', index: '*' } },
    { op: 'c', ns: 'shop.$cmd', o: { collMod: 'rows', index: {} } },
  ]
  for (const operation of operations) {
    const ask = (more: Document, ...names: string[]) =>
      answerTo({
        by: applyOpsPrivileges,
        body: { applyOps: [{ ...operation, ...more }] },
        db: 'admin',
        may: { cluster: ['applyOps', 'useUUID'], ...Object.fromEntries(names.map((name) => [name, actions])) },
        version: '6.0',
      })
    t.equal(ask({}, 'shop.rows'), true)
    t.equal(ask({ ui: new UUID() }, 'shop.rows'), true, 'no collection has it')
    t.equal(ask({ ui: secretUuid }, 'shop.rows'), false, JSON.stringify(operation))
    t.equal(ask({ ui: secretUuid }, 'shop.rows', 'shop.secrets'), true)
  }
  t.end()
})

t.test('$out and $merge ask for the collection that they write, also if it is named twice', (t) => {
  const may = { 'shop.rows': ['find', 'insert', 'update', 'remove'], 'shop.log': ['insert'] }
  const ask = (stage: Document, a = 'coll', b = 'cox!') => {
    const body = twice({ aggregate: 'rows', pipeline: [stage], cursor: {} }, a, b)
    return answerTo({ by: aggregatePrivileges, body, may })
  }
  for (const [answer, stage, ...names] of [
    [true, { $out: { db: 'shop', coll: 'rows', coxx: 1 } }],
    [true, { $out: 'rows' }],
    [false, { $out: 'secrets' }],
    [false, { $out: { db: 'shop', coll: 'rows', 'cox!': 'secrets' } }],
    [true, { $merge: 'rows' }],
    [false, { $merge: 'secrets' }],
    [false, { $merge: { into: { coll: 'rows', 'cox!': 'secrets' } } }],
    [false, { $merge: { into: { coll: null, 'cox!': 'secrets' } } }],
    [false, { $merge: { into: 'rows', inxo: 'secrets' } }, 'into', 'inxo'],
    [false, { $merge: { into: { db: '', coll: 'secrets' } } }],
    [true, { $merge: { into: 'log', whenMatched: 'fail' } }],
    [false, { $merge: { into: 'log', whenMatched: 'fail', whenMatchex: 'merge' } }, 'whenMatched', 'whenMatchex'],
  ] as const)
    t.equal(ask(stage, ...names), answer, JSON.stringify(stage))
  t.end()
})

t.test('stages about all users or all databases ask for them, also if they say so the second time', (t) => {
  const ask = (stage: Document, a: string, b: string) => {
    const body = twice({ aggregate: 1, pipeline: [stage], cursor: {} }, a, b)
    return answerTo({ by: aggregatePrivileges, body, db: 'admin', may: { admin: ['find', 'changeStream'] } })
  }
  for (const name of ['$currentOp', '$listLocalSessions']) {
    t.equal(ask({ [name]: {} }, '', ''), true)
    t.equal(ask({ [name]: { allUsers: true } }, '', ''), false)
    t.equal(ask({ [name]: { allUsers: false, allUserx: true } }, 'allUsers', 'allUserx'), false)
    t.equal(ask({ [name]: { users: [], userx: [{ user: 'root', db: 'admin' }] } }, 'users', 'userx'), false)
  }
  const all = ['allChangesForCluster', 'allChangesForClustex'] as const
  t.equal(ask({ $changeStream: {} }, ...all), true)
  t.equal(ask({ $changeStream: { [all[0]]: false, [all[1]]: true } }, ...all), false)
  t.end()
})

t.test('an update that upserts needs insert, also if it says so the second time', (t) => {
  const may = { 'shop.rows': ['update'] }
  const [upsert, upserx] = [{ upsert: false }, { upserx: true }]
  const updates = [{ q: {}, u: {}, ...upsert, ...upserx }]
  t.equal(
    answerTo({ by: updatePrivileges, body: { update: 'rows', updates: [{ q: {}, u: {}, ...upsert }] }, may }),
    true,
  )
  t.equal(answerTo({ by: updatePrivileges, body: twice({ update: 'rows', updates }, 'upsert', 'upserx'), may }), false)
  const ops = [{ update: 0, filter: {}, updateMods: {}, ...upsert, ...upserx }]
  const body = twice({ bulkWrite: 1, ops, nsInfo: [{ ns: 'shop.rows' }] }, 'upsert', 'upserx')
  t.equal(answerTo({ by: bulkWritePrivileges, body, may }), 'IDLDuplicateField')
  t.end()
})
