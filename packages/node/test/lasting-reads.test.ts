/** Reads that outlast a change of their member's state in the middle of what they do. */
import { CommandArguments, createDeferred } from '@shardlab/actor'
import { Binary, decode, emptyDocument, encode, Timestamp, type Document } from '@shardlab/bson'
import { RunningOperation } from '@shardlab/member'
import t from 'tap'
import { onlyReads, writes } from '../src/host/operation-access.js'
import { long, NodeUnderTest, plainRole, session } from './support/harness.js'

/** More than one turn of a read computes. */
const many = 5000

async function start(): Promise<NodeUnderTest> {
  const node = new NodeUnderTest({ role: { ...plainRole, name: 'mongod' } })
  for (let i = 0; i < many; i += 1000) {
    const documents = Array.from({ length: 1000 }, (_, k) => ({ _id: i + k, n: (i + k) % 1000 }))
    await node.ok({ insert: 'c', documents })
  }
  return node
}

/** As a message of another member, which the state of this one may end. */
async function ask(node: NodeUnderTest, command: Document): Promise<Document> {
  return decode((await node.member.receive('node.command', node.command(command), 'mongos01')).body)
}

/** The member becomes secondary and primary again in the first turn that the command gives up. */
async function askDuringChange(node: NodeUnderTest, command: Document): Promise<Document> {
  const before = node.node
  const changes: Promise<void>[] = []
  node.context.betweenTurns = () => {
    node.context.betweenTurns = null
    changes.push(node.stepDown().then(() => node.stepUp()))
    return changes[0]!
  }
  const reply = await ask(node, command)
  await Promise.all(changes)
  t.not(node.node, before)
  return reply
}

t.test('a count ends on the data of the next state', async (t) => {
  const node = await start()
  t.match(await askDuringChange(node, { count: 'c', query: { n: 7 } }), { ok: 1, n: 5 })
  t.equal(node.node.operations.size, 0)
})

t.test('hashes of a database and of a file are those of one state', async (t) => {
  const node = await start()
  const data = { files_id: 1, data: new Binary(Buffer.alloc(1)) }
  for (let i = 0; i < many; i += 1000)
    await node.ok({
      insert: 'fs.chunks',
      documents: Array.from({ length: 1000 }, (_, k) => ({ _id: i + k, n: i + k, ...data })),
    })
  await node.ok({ createIndexes: 'fs.chunks', indexes: [{ key: { files_id: 1, n: 1 }, name: 'files_id_1_n_1' }] })
  for (const command of [{ dbHash: 1 }, { filemd5: 1, root: 'fs' }]) {
    const { md5 } = await node.ok(command)
    t.match(await askDuringChange(node, command), { ok: 1, md5 })
  }
})

t.test('the state that follows does not confirm a linearizable read', async (t) => {
  const node = await start()
  const count = { count: 'c', query: { n: 7 }, readConcern: { level: 'linearizable' } }
  t.match(await askDuringChange(node, count), { ok: 0, code: 11_602 })
  t.equal(node.node.operations.size, 0)
  t.match(await ask(node, count), { ok: 1, n: 5 })
})

t.test('a wait that fails after the end of all reads leaves nothing behind', async (t) => {
  const { node } = new NodeUnderTest()
  const { context, reads } = node
  const body = encode({ count: 'c' })
  const operation = new RunningOperation(1, {
    ...{ command: 'count', db: 'test', body, connectionId: 1, remote: '', startedAtMs: 0, startedSteadyMs: 0 },
  })
  operation.args = CommandArguments.parse(body, null, [])
  const [first, second] = [createDeferred<void>(), createDeferred<void>()]
  const waits = [first, second].map(({ promise }) => reads.during(context, operation, () => promise))
  t.ok(reads.isLasting(operation))
  reads.end()
  first.reject(new Error('interrupted'))
  second.resolve()
  await t.rejects(waits[0]!, { message: 'interrupted' })
  await waits[1]
  t.notOk(reads.isLasting(operation))
})

t.test('a write ends, and leaves nothing behind', async (t) => {
  const node = await start()
  const update = { update: 'c', updates: [{ q: { n: { $gte: 0 } }, u: { $set: { x: 1 } }, multi: true }] }
  t.match(await askDuringChange(node, update), { ok: 0, code: 11_602 })
  t.equal(node.node.operations.size, 0)
  t.equal(node.node.cursors.pausedReads.size, 0)
  const { n } = await node.ok({ count: 'c', query: { x: 1 } })
  t.ok((n as number) < many, 'it stopped in the middle')
})

t.test('a pipeline that writes is a write, also for a step-down', (t) => {
  const { node } = new NodeUnderTest({ role: { ...plainRole, name: 'mongod' } })
  const kindOf = (command: Document): string => {
    const [name] = Object.keys(command) as [string]
    const operation = { command: name, args: CommandArguments.parse(encode(command), null, []) }
    return `${onlyReads(node, operation) ? 'reads' : ''}${writes(node, operation) ? 'writes' : ''}`
  }
  t.equal(kindOf({ aggregate: 'c', pipeline: [{ $match: {} }], cursor: {} }), 'reads')
  t.equal(kindOf({ aggregate: 'c', pipeline: [{ $out: 'd' }], cursor: {} }), 'writes')
  t.equal(kindOf({ aggregate: 'c', pipeline: [{ $merge: { into: 'd' } }], cursor: {} }), 'writes')
  t.equal(kindOf({ getMore: long(1), collection: 'c' }), 'reads')
  t.equal(kindOf({ insert: 'c', documents: [{}] }), 'writes')
  t.equal(kindOf({ explain: { find: 'c' } }), 'reads')
  t.equal(kindOf({ explain: { update: 'c', updates: [] } }), '')
  t.equal(kindOf({ find: 'c', startTransaction: true, autocommit: false }), '')
  t.end()
})

t.test('a pipeline that merges cursors continues with them', async (t) => {
  const node = await start()
  const { cursor } = (await ask(node, { find: 'c', filter: { n: 7 }, batchSize: 1 })) as { cursor: Document }
  const { endpoint, address } = node.context
  const remote = { shardId: address, hostAndPort: endpoint, cursorResponse: { cursor, ok: 1 } }
  const merging = { aggregate: 'c', pipeline: [{ $mergeCursors: { nss: 'test.c', remotes: [remote] } }], cursor: {} }
  const reply = await askDuringChange(node, merging)
  t.match(reply, { ok: 1 })
  t.strictSame(
    (reply['cursor'] as { firstBatch: Document[] }).firstBatch.map(({ _id }) => _id),
    [7, 1007, 2007, 3007, 4007],
  )
  t.equal(node.node.operations.size, 0)
})

t.test('D906: a read that meets a change of a prepared transaction in a later state ends', async (t) => {
  const node = await start()
  const { transactions } = node.node
  const inside = { lsid: session(1), txnNumber: long(1), autocommit: false, startTransaction: true }
  await node.ok({ update: 'c', updates: [{ q: { _id: many - 1 }, u: { $set: { x: 1 } } }], ...inside })
  const [transaction] = [...transactions.all()]
  const [seconds, i] = transactions.prepare(transaction!)
  const readConcern = { afterClusterTime: new Timestamp({ t: seconds, i }) }
  const count = { count: 'c', query: { n: { $gte: 0 } }, readConcern }
  t.match(await askDuringChange(node, count), { ok: 0, code: 11_602 })
  t.equal(node.node.operations.size, 0)
  const again = [...node.node.transactions.all()][0]!
  node.node.transactions.commitPrepared(again, [seconds, i], emptyDocument)
  t.match(await ask(node, count), { ok: 1, n: many })
})
