import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

const admin = { $db: 'admin' }
const name = 'onPrimaryTransactionalWrite'

/** Null: the connection was closed. */
function clientOf(node: NodeUnderTest): (command: Document) => Promise<Document | null> {
  return async (command) => {
    const body = encode({ ...command, $db: command['$db'] ?? 'test' })
    const reply = await node.node.clientCommand({
      connectionId: 1,
      body,
      sequences: [],
      legacy: false,
      remote: '127.0.0.1:5000',
    })
    return reply.body.length === 0 ? null : decode(reply.body)
  }
}

function setUp(version: '2.6' | '4.0' | '8.0' = '8.0') {
  const node = new NodeUnderTest({ role: { ...plainRole, name: 'mongod' }, version })
  const run = clientOf(node)
  const fail = (mode: unknown, data: Document) => run({ configureFailPoint: name, mode, data, ...admin })
  return { node, run, fail }
}

const insert = (_id: number, number: number) => ({
  insert: 'c',
  documents: [{ _id }],
  lsid: session(1),
  txnNumber: long(number),
})

t.test('a retryable write is done, and its reply is lost', async (t) => {
  const { node, run, fail } = setUp()
  await fail({ times: 1 }, {})
  t.match(await run({ insert: 'c', documents: [{ _id: 0 }] }), { ok: 1 }, 'not a retryable write')
  t.equal(await run(insert(1, 1)), null)
  t.same(await node.all('c'), [{ _id: 0 }, { _id: 1 }])
  t.match(await run(insert(1, 1)), { ok: 1, n: 1, retriedStmtIds: [0] })
  const update = {
    update: 'c',
    updates: [{ q: { _id: 1 }, u: { $inc: { a: 1 } } }],
    lsid: session(1),
    txnNumber: long(2),
  }
  await fail({ times: 1 }, {})
  t.equal(await run(update), null)
  t.match(await run(update), { ok: 1, nModified: 1 })
  t.same(await node.all('c'), [{ _id: 0 }, { _id: 1, a: 1 }], 'once')
})

t.test('a write fails before its commit, and the connection stays', async (t) => {
  const { node, run, fail } = setUp()
  await fail({ times: 1 }, { failBeforeCommitExceptionCode: 91, closeConnection: false })
  t.match(await run(insert(1, 1)), {
    ok: 1,
    writeErrors: [
      { code: 91, errmsg: /^Failing write for .*:1 due to failpoint\. The write must not be reflected\.$/ },
    ],
  })
  t.same(await node.all('c'), [])
  t.match(await run(insert(1, 1)), { ok: 1, n: 1 })
  await fail({ times: 1 }, { failBeforeCommitExceptionCode: 1 })
  t.equal(await run(insert(2, 2)), null)
  t.same(await node.all('c'), [{ _id: 1 }])
})

t.test('several documents that fail together are inserted one by one', async (t) => {
  const { node, run, fail } = setUp()
  await run({ create: 'c' })
  await fail({ times: 1 }, { failBeforeCommitExceptionCode: 91, closeConnection: false })
  const several = { ...insert(1, 1), documents: [{ _id: 1 }, { _id: 2 }] }
  const reply = await run(several)
  t.match(reply, { ok: 1, n: 2 })
  t.notOk('writeErrors' in reply!)
  t.equal((await node.all('c')).length, 2)
})

t.test('a transaction whose commit fails has aborted; one whose reply is lost has committed', async (t) => {
  const { node, run, fail } = setUp()
  await run({ create: 'c' })
  const begin = async (number: number) => {
    const common = { lsid: session(1), txnNumber: long(number), autocommit: false }
    t.match(await run({ ...insert(number, number), ...common, startTransaction: true }), { ok: 1 })
    return { commitTransaction: 1, ...common, ...admin }
  }
  await fail({ times: 1 }, { failBeforeCommitExceptionCode: 112, closeConnection: false })
  const failing = await begin(1)
  t.match(await run(failing), { ok: 0, code: 112, errorLabels: ['TransientTransactionError'] })
  t.match(await run(failing), { ok: 0, code: 251 })
  t.equal(node.node.transactions.isEmpty, true)
  await fail({ times: 1 }, {})
  const committing = await begin(2)
  t.equal(await run(committing), null)
  t.match(await run(committing), { ok: 1 })
  t.same(await node.all('c'), [{ _id: 2 }])
})

t.test('only versions with transactions have the fail point', async (t) => {
  t.match(await setUp('2.6').fail('off', {}), { code: 266 })
  t.match(await setUp('4.0').fail('off', {}), { ok: 1 })
})
