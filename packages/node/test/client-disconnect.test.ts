/** Clients that close their connection while an operation has given up its turn. */
import t from 'tap'
import { decode, encode, type Document, type Long } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { answerClient } from '../src/dispatch/member-messages.js'
import type { NodeUnderTest } from './support/harness.js'
import { inTurn, yielding } from './support/yielding.js'

const connectionId = 7
const group = { $group: { _id: '$b', n: { $sum: 1 } } }
const cursor = {}

/** How many turns the command took whose client disconnected in the third one, and its reply. */
async function disconnecting(node: NodeUnderTest, command: Document): Promise<{ turns: number; reply: Document }> {
  const { turns } = node.context
  inTurn(node, 3, async () => void (await node.node.serve('client.disconnected', { connectionId })))
  const body = encode({ ...command, $db: 'test' })
  const { body: reply } = await answerClient(node.node, {
    connectionId,
    body,
    sequences: [],
    legacy: false,
    remote: '127.0.0.1:5000',
  })
  t.equal(node.node.operations.size, 0)
  return { turns: node.context.turns - turns, reply: decode(reply) }
}

const reads: Record<string, Document> = {
  find: { find: 'c', filter: { b: { $lte: 0 } }, batchSize: 1000 },
  sort: { find: 'c', sort: { b: 1 }, batchSize: 1000 },
  count: { count: 'c', query: { b: { $lte: 0 } } },
  distinct: { distinct: 'c', key: 'b', query: { b: { $lte: 0 } } },
  aggregate: { aggregate: 'c', pipeline: [group], cursor },
}

const writes: Record<string, Document> = {
  update: { update: 'c', updates: [{ q: { b: { $lte: 0 } }, u: { $inc: { c: 1 } }, multi: true }] },
  $out: { aggregate: 'c', pipeline: [group, { $out: 'd' }], cursor },
  $merge: { aggregate: 'c', pipeline: [group, { $merge: 'd' }], cursor },
}

t.test('a read ends when its client has disconnected', async (t) => {
  for (const [name, read] of Object.entries(reads)) {
    const { turns, reply } = await disconnecting(await yielding(50), read)
    t.equal(turns, 3, name)
    t.match(reply, { ok: 0, code: 279, codeName: 'ClientDisconnect' }, name)
  }
})

t.test('writes, getMore and reads of other connections continue', async (t) => {
  for (const [name, write] of Object.entries(writes)) {
    const { turns, reply } = await disconnecting(await yielding(50), write)
    t.match(reply, { ok: 1 }, name)
    t.ok(turns > 20, `${name}: ${turns} turns`)
  }
  const node = await yielding(50)
  const { id } = (await node.ok({ ...reads['find'], batchSize: 2 }))['cursor'] as { id: Long }
  t.match((await disconnecting(node, { getMore: id, collection: 'c' })).reply, {
    ok: 1,
    cursor: { nextBatch: { length: 48 } },
  })
  inTurn(node, 3, async () => void (await node.node.serve('client.disconnected', { connectionId })))
  t.match(await node.run(reads['sort']!), { ok: 1 }, 'the operation of another member')
})

t.test('2.6 and 4.0: a read continues without its client', async (t) => {
  for (const version of ['2.6', '4.0'] satisfies EmulatedVersion[]) {
    const { reply } = await disconnecting(await yielding(50, version), reads['count']!)
    t.match(reply, { ok: 1, n: 50 }, version)
  }
})

t.test("a router that kills its operation ends the operation's reads on a shard, and no others", async (t) => {
  for (const [name, command] of Object.entries({ ...reads, ...writes })) {
    const run = async (operationKey: number) => {
      const node = await yielding(50)
      inTurn(node, 3, async () => void (await node.node.serve('node.kill-operation', { operationKey: 5 })))
      return decode((await node.node.nodeCommand({ ...node.command(command), operationKey })).body)
    }
    t.match(await run(5), name in writes ? { ok: 1 } : { ok: 0, code: 279 }, name)
    t.match(await run(6), { ok: 1 }, `${name}: of another operation`)
  }
})
