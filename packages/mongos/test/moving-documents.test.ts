import { CommandError, decode, encode, errorDocument, Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import type { FakeCluster } from './support/fake-cluster.js'
import { threeShards } from './support/three-shards.js'

const lsid = { id: new UUID(Buffer.alloc(16, 1)) }
const writeConcern = { w: 'majority' }
const update = { update: 'c', updates: [{ q: { x: 5 }, u: { $set: { x: 500 } } }], lsid, txnNumber: Long.fromNumber(1) }
const modify = {
  findAndModify: 'c',
  query: { x: 5 },
  update: { $set: { x: 500 } },
  lsid,
  txnNumber: Long.fromNumber(2),
}
const change = {
  preImage: { _id: 1, x: 5 },
  postImage: { _id: 1, x: 500 },
  shouldUpsert: false,
  ns: 'test.c',
  uuid: new UUID(),
}

interface Sent {
  readonly shard: string
  readonly name: string
  readonly command: Document
}

/** Shards reject updates with 283. In transactions, `answers` replace their first replies. */
function refusing(answers: Record<string, (Document | CommandError)[]> = {}): {
  cluster: FakeCluster
  sent: Sent[]
} {
  const cluster = threeShards()
  const sent: Sent[] = []
  cluster.script((shard, { body }, name) => {
    const command = decode(body)
    sent.push({ shard, name, command })
    const answer = command['autocommit'] === false ? answers[name]?.shift() : undefined
    if (answer instanceof CommandError) return { ok: 0, ...decode(errorDocument(answer)) }
    if (answer !== undefined) return { ok: 1, ...answer }
    const readOnly = name === 'update' || name === 'findAndModify'
    if (name === 'update')
      return {
        n: 0,
        nModified: 0,
        writeErrors: [{ index: 0, code: 283, ...change, errmsg: 'it moves' }],
        readOnly,
        ok: 1,
      }
    if (name === 'findAndModify') return { ok: 0, code: 283, errmsg: 'it moves', ...change, readOnly }
    return { n: 1, ok: 1, readOnly }
  })
  return { cluster, sent }
}

const inTransaction = (shard: string, name: string) => ({
  shard,
  name,
  command: { lsid, txnNumber: Long.fromNumber(1), autocommit: false },
})

t.test(
  'the write runs again in a transaction with its number, and the client gets the reply of an update',
  async (t) => {
    const { cluster, sent } = refusing()
    const reply = await cluster.run({ ...update, writeConcern })
    t.match(reply, { n: 1, nModified: 1, ok: 1 })
    t.notOk(reply['writeErrors'])
    t.notOk(reply['recoveryToken'])
    t.match(sent, [
      { shard: 'shard02', name: 'update', command: { writeConcern } },
      inTransaction('shard02', 'update'),
      { ...inTransaction('shard02', 'delete') },
      { ...inTransaction('shard03', 'insert') },
      { ...inTransaction('shard02', 'coordinateCommitTransaction'), command: { writeConcern } },
    ])
    t.equal(sent.length, 5)
    t.notOk(sent[0]!.command['autocommit'])
    t.equal(sent[1]!.command['startTransaction'], true)
    t.notOk(sent[1]!.command['writeConcern'], 'the commit has the write concern')
  },
)

t.test(
  'a document that the update no longer moves, because it was changed before, is updated on its shard',
  async (t) => {
    const { cluster, sent } = refusing({ update: [{ n: 1, nModified: 1, readOnly: false }] })
    t.match(await cluster.run(update), { n: 1, nModified: 1 })
    t.match(sent.at(-1), inTransaction('shard02', 'commitTransaction'))
  },
)

t.test('a conflict ends the transaction and is the error of the statement', async (t) => {
  const conflict = new CommandError('WriteConflict', 'WriteConflict error')
  const { cluster, sent } = refusing({ update: [conflict] })
  t.match(await cluster.run(update), {
    ok: 1,
    n: 0,
    writeErrors: [
      {
        index: 0,
        code: 112,
        errmsg: /^Update operation was converted into a distributed transaction .* :: caused by :: WriteConflict error/,
      },
    ],
  })
  t.match(sent.at(-1), inTransaction('shard02', 'abortTransaction'))
  const failing = refusing({ findAndModify: [conflict] })
  t.match(await failing.cluster.run(modify), { ok: 0, code: 112 })
})

t.test('a transaction with stale routing is routed again', async (t) => {
  const stale = new CommandError('StaleConfig', 'stale', { extra: encode({ ns: 'test.c' }) })
  const { cluster, sent } = refusing({ insert: [stale] })
  t.match(await cluster.run(update), { n: 1, nModified: 1 })
  t.same(
    sent.map(({ name }) => name),
    [
      'update',
      ...['update', 'delete', 'insert', 'abortTransaction', 'abortTransaction'],
      ...['update', 'delete', 'insert', 'coordinateCommitTransaction'],
    ],
  )
  const other = refusing({ insert: [stale] })
  t.match(await other.cluster.run(modify), { ok: 1, value: change.preImage })
})

const words =
  'Update operation was converted into a distributed transaction because the document being updated would move shards and that transaction failed.'

t.test('errors of a move have the texts of the server', async (t) => {
  const duplicate = { index: 0, code: 11000, keyPattern: { y: 1 }, keyValue: { y: 2 }, errmsg: 'E11000' }
  const insert = { n: 0, writeErrors: [duplicate] }
  const { cluster } = refusing({ insert: [insert, insert] })
  t.match(await cluster.run(update), {
    writeErrors: [
      {
        code: 11000,
        keyPattern: { y: 1 },
        errmsg: `${words} :: caused by :: During insert stage of updating a shard key :: caused by :: E11000`,
      },
    ],
  })
  t.match(await cluster.run(modify), {
    ok: 0,
    code: 11000,
    errmsg: `${words} :: caused by :: findAndModify :: caused by :: During insert stage of updating a shard key :: caused by :: E11000`,
  })
})

t.test('an error of the commit is the error of the statement', async (t) => {
  const { cluster } = refusing({ coordinateCommitTransaction: [new CommandError('NoSuchTransaction', 'aborted')] })
  t.match(await cluster.run(update), { writeErrors: [{ code: 251, errmsg: `${words} :: caused by :: aborted` }] })
})

t.test('a findAndModify that moves its document returns its image', async (t) => {
  const { cluster } = refusing()
  t.match(await cluster.run(modify), { lastErrorObject: { n: 1, updatedExisting: true }, value: change.preImage })
  t.match(await cluster.run({ ...modify, new: true, txnNumber: Long.fromNumber(3) }), { value: change.postImage })
})
