import { NotPrimaryError, RequestFailedError, type MessageKind, type NodeCommand } from '@shardlab/actor'
import { decode, encode, firstFieldName, Long, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { cursorReply, FakeCluster } from './support/fake-cluster.js'
import { Gone } from './support/fake-world.js'

interface ScriptedMember {
  state: 'primary' | 'secondary' | 'other' | 'down'
  term: number
  tags: Document
  lagMs: number
}

const addresses = ['shard01-1', 'shard01-2', 'shard01-3']
const lsid = { id: new UUID('00000000-0000-4000-8000-000000000001') }
const clusterTime = [1_700_000_000, 7]

/** `shard01` has three members, of which the first is primary. The database is on it. */
class SetCluster extends FakeCluster {
  readonly set = new Map<string, ScriptedMember>()
  /** Of the commands to members: the reply, or an error to throw. */
  reply: (member: string, name: string, command: NodeCommand) => Document = (member, name) => {
    if (name === 'find' || name === 'aggregate') return cursorReply([{ from: member }])
    if (name === 'getMore') return cursorReply([{ from: member }], { batch: 'nextBatch' })
    return { n: 1, ok: 1 }
  }

  constructor() {
    super()
    this.world.members.delete('shard01')
    this.world.names.set('shard01', addresses)
    for (const [i, address] of addresses.entries()) {
      this.set.set(address, { state: i === 0 ? 'primary' : 'secondary', term: 1, tags: {}, lagMs: 0 })
      this.world.names.set(`127.0.0.1:600${i}`, [address])
      this.world.members.set(address, (kind, request) => this.#answer(address, kind, request))
    }
  }

  /** All members learn the new term. */
  elect(primary: string): void {
    for (const [address, member] of this.set) {
      member.term++
      if (member.state !== 'down') member.state = address === primary ? 'primary' : 'secondary'
    }
  }

  /** The members that were sent such a command, in order, since the last call. */
  sentTo(name: string): string {
    const found = this.world.sent.filter(
      ({ kind, request, to }) =>
        kind === 'node.command' && to.startsWith('shard01') && firstFieldName((request as NodeCommand).body) === name,
    )
    this.world.sent.length = 0
    return found.map(({ to }) => to.slice(-1)).join(' ')
  }

  #answer(address: string, kind: MessageKind, request: unknown): unknown {
    const { state, term, tags, lagMs } = this.set.get(address)!
    if (state === 'down') throw new RequestFailedError('unreachable', address, `${address} is down`, true)
    if (kind === 'replication.find-primary') return { isWritable: state === 'primary', term, primary: null }
    if (kind === 'replication.member-state') return { state, tags: encode(tags), lastWriteMs: this.world.nowMs - lagMs }
    if (kind === 'node.kill-operation') return {}
    const command = request as NodeCommand
    const body = encode(this.reply(address, firstFieldName(command.body)!, command))
    return { body, operationTime: [1_700_000_000, 5], clusterTime }
  }
}

const find = (preference?: Document): Document => ({
  find: 'c',
  ...(preference === undefined ? {} : { $readPreference: preference }),
})

t.test('writes and reads without a preference go to the primary, which is looked for once', async (t) => {
  const cluster = new SetCluster()
  for (let i = 0; i < 3; i++) t.match(await cluster.run({ insert: 'c', documents: [{ _id: i }] }), { n: 1, ok: 1 })
  t.equal(cluster.countSent('replication.find-primary'), 3, 'each member once')
  t.equal(cluster.sentTo('insert'), '1 1 1')
  t.match(await cluster.run(find()), { cursor: { firstBatch: [{ from: 'shard01-1' }] } })
  t.match(await cluster.run(find({ mode: 'primary' })), { cursor: { firstBatch: [{ from: 'shard01-1' }] } })
  t.equal(cluster.countSent('replication.member-state'), 0)
})

t.test('a failover looks like the restart of a shard', async (t) => {
  const cluster = new SetCluster()
  await cluster.run({ insert: 'c', documents: [{ _id: 0 }] })
  cluster.set.get('shard01-1')!.state = 'down'
  cluster.sentTo('insert')
  const waiting = cluster.start({ insert: 'c', documents: [{ _id: 1 }] })
  await cluster.world.drain()
  cluster.elect('shard01-3')
  t.match(decode(await cluster.world.settle(waiting)), { n: 1, ok: 1 })
  t.equal(cluster.sentTo('insert'), '1 3')

  cluster.set.get('shard01-3')!.state = 'down'
  const began = cluster.world.nowMs
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 2 }] }), {
    writeErrors: [
      {
        code: 133,
        errmsg: /Could not find host matching read preference \{ mode: "primary" \} for set shard01$/,
      },
    ],
  })
  t.equal(cluster.world.nowMs - began, 15_000)
})

t.test('a primary that crashes during a write ends it, unless the write is retryable', async (t) => {
  const cluster = new SetCluster()
  const whole = cluster.reply
  let crashes = 1
  cluster.reply = (...args) => {
    if (args[1] === 'insert' && crashes-- > 0) {
      cluster.set.get(args[0])!.state = 'down'
      cluster.elect('shard01-2')
      throw new Gone()
    }
    return whole(...args)
  }
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: Long.ONE }), { n: 1, ok: 1 })
  t.equal(cluster.sentTo('insert'), '1 2')
  crashes = 1
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 2 }] }), { n: 0, writeErrors: [{ code: 6 }] })
  t.equal(cluster.sentTo('insert'), '2', 'whether it ran is unknown')
})

t.test('a member that is not primary refuses: retryable writes are repeated, others fail once', async (t) => {
  const cluster = new SetCluster()
  const whole = cluster.reply
  cluster.reply = (member, name, command) =>
    name !== 'insert' || cluster.set.get(member)!.state === 'primary'
      ? whole(member, name, command)
      : { ok: 0, code: 10107, codeName: 'NotWritablePrimary', errmsg: 'not primary' }
  await cluster.run({ insert: 'c', documents: [{ _id: 0 }] })
  cluster.elect('shard01-2')
  cluster.sentTo('insert')
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 1 }], lsid, txnNumber: Long.ONE }), { n: 1, ok: 1 })
  t.equal(cluster.sentTo('insert'), '1 2')
  cluster.elect('shard01-3')
  const refused = await cluster.run({ insert: 'c', documents: [{ _id: 2 }] })
  t.match(JSON.stringify(refused), /not primary/)
  t.equal(cluster.sentTo('insert'), '2')
  t.match(await cluster.run({ insert: 'c', documents: [{ _id: 2 }] }), { n: 1, ok: 1 })
  t.equal(cluster.sentTo('insert'), '3', 'the next one goes to the primary')
})

t.test('a request that only a primary serves follows it', async (t) => {
  const cluster = new SetCluster()
  await cluster.run({ insert: 'c', documents: [{ _id: 0 }] })
  cluster.elect('shard01-2')
  const asked: string[] = []
  for (const address of addresses) {
    const answer = cluster.world.members.get(address)!
    cluster.world.members.set(address, (kind, request) => {
      if (kind !== 'shard.change-definition') return answer(kind, request)
      asked.push(address)
      if (cluster.set.get(address)!.state !== 'primary') {
        const { undelivered, primaryHint } = new NotPrimaryError(true, 'shard01-2')
        throw new RequestFailedError('unreachable', address, `${address} is not primary`, undelivered, primaryHint)
      }
      return { sharded: false, answers: [['shard01', encode({ ok: 1 })]], error: null }
    })
  }
  t.match(await cluster.run({ collMod: 'c', validationLevel: 'off' }), { ok: 1 })
  t.same(asked, ['shard01-1', 'shard01-2'], 'the hint of the refusal saves a search')
})

t.test('reads go to members that suit the read preference', async (t) => {
  const cluster = new SetCluster()
  const [first, second, third] = addresses.map((address) => cluster.set.get(address)!)
  second!.tags = { dc: 'east', use: 'reports' }
  third!.tags = { dc: 'west' }
  third!.lagMs = 150_000
  const servers = async (preference: Document): Promise<string> => {
    for (let i = 0; i < 12; i++) t.match(await cluster.run(find(preference)), { ok: 1 })
    return [...new Set(cluster.sentTo('find').split(' '))].sort().join(' ')
  }
  t.equal(await servers({ mode: 'secondary' }), '2 3')
  t.equal(await servers({ mode: 'secondaryPreferred' }), '2 3')
  t.equal(await servers({ mode: 'nearest' }), '1 2 3')
  t.equal(await servers({ mode: 'primaryPreferred' }), '1')
  t.equal(await servers({ mode: 'secondary', tags: [{ dc: 'west' }] }), '3')
  t.equal(await servers({ mode: 'nearest', tags: [{ dc: 'north' }, { dc: 'east' }] }), '2')
  t.equal(await servers({ mode: 'secondaryPreferred', tags: [{ dc: 'north' }] }), '1')
  t.equal(await servers({ mode: 'secondary', maxStalenessSeconds: 120 }), '2')

  const began = cluster.world.nowMs
  t.match(await cluster.run(find({ mode: 'secondary', tags: [{ dc: 'north' }], maxStalenessSeconds: 90 })), {
    code: 133,
    errmsg:
      'Could not find host matching read preference { mode: "secondary", tags: [ { dc: "north" } ], maxStalenessSeconds: 90 } for set shard01',
  })
  t.equal(cluster.world.nowMs - began, 15_000)

  cluster.sentTo('find')
  first!.state = 'down'
  t.equal(await servers({ mode: 'primaryPreferred', tags: [{ dc: 'west' }] }), '1 3', 'the primary does not answer')
  second!.state = 'other'
  cluster.world.nowMs += 20_000
  t.equal(await servers({ mode: 'nearest' }), '3', 'a member in another state serves no reads')

  t.match(await cluster.run({ count: 'c', $readPreference: { mode: 'secondary' } }), { ok: 1 })
  t.equal(cluster.sentTo('count'), '3')
  cluster.elect('shard01-3')
  cluster.world.nowMs += 20_000
  const write = { insert: 'c', documents: [{ _id: 1 }], $readPreference: { mode: 'secondary' } }
  t.match(await cluster.run(write), { n: 1 })
  t.equal(cluster.sentTo('insert'), '3', 'writes go to the primary')
})

t.test('a cursor is read where it was opened, and its errors name that member', async (t) => {
  const cluster = new SetCluster()
  cluster.set.get('shard01-3')!.state = 'other'
  cluster.reply = (member, name) => {
    if (name === 'find') return cursorReply([{ from: member }], { id: 7n })
    if (name === 'getMore') return cursorReply([{ from: member }], { id: 7n, batch: 'nextBatch' })
    return { ok: 1 }
  }
  const open = async (): Promise<Long> => {
    const { cursor } = (await cluster.run({ ...find({ mode: 'secondary' }), batchSize: 1 })) as {
      cursor: { id: Long; firstBatch: Document[] }
    }
    t.same(cursor.firstBatch, [{ from: 'shard01-2' }])
    return cursor.id
  }
  const id = await open()
  cluster.elect('shard01-2')
  t.match(await cluster.run({ getMore: id, collection: 'c', batchSize: 1 }), {
    cursor: { nextBatch: [{ from: 'shard01-2' }] },
  })
  await cluster.run({ killCursors: 'c', cursors: [id] })
  await cluster.world.drain()
  t.equal(cluster.sentTo('killCursors'), '2')

  cluster.elect('shard01-1')
  cluster.world.nowMs += 20_000
  const lost = await open()
  cluster.set.get('shard01-2')!.state = 'down'
  t.match(await cluster.run({ getMore: lost, collection: 'c' }), {
    code: 6,
    errmsg: /^Error connecting to shard01-2/,
  })
  t.equal(cluster.sentTo('getMore'), '2', 'another member does not have the cursor')
})
