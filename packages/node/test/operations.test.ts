import { decode, DocumentWriter, encode, type Document } from '@shardlab/bson'
import { createDeferred } from '@shardlab/actor'
import t from 'tap'
import { type NodeInvocation, type NodeRole } from '../src/index.js'
import { NodeUnderTest, session } from './support/harness.js'

const admin = { db: 'admin' }

/** A role with a command that waits until it is released or killed. */
function waitingRole(): { role: NodeRole; letGo: () => void } {
  const gate = createDeferred<void>()
  const role: NodeRole = {
    name: 'shard',
    setName: 'shard01',
    memberName: 'shard01',
    rows: [
      {
        name: 'waitForever',
        routing: 'local',
        access: 'none',
        privileges: 'user',
        manual: '',
        status: 'full',
        summary: '',
        async run({ operation, host }: NodeInvocation) {
          await operation.interruptible(gate.promise)
          return new DocumentWriter().int64('now', host.context.now())
        },
      },
    ],
    enter: () => ({ ownership: null }),
    checkReplacement: () => {},
    checkImplicitCreate: () => {},
  }
  return { role, letGo: () => gate.resolve() }
}

t.test('currentOp shows running operations and killOp kills them; D705: time in milliseconds', async (t) => {
  const { role } = waitingRole()
  const node = new NodeUnderTest({ role })
  const running = node.node.clientCommand({
    connectionId: 3,
    body: encode({ waitForever: 1, lsid: session(5), comment: 'mine', $db: 'test' }),
    sequences: [],
    legacy: false,
    remote: '10.0.0.1:5000',
  })
  node.context.nowMs += 2500
  const listed = await node.node.clientCommand({
    connectionId: 4,
    body: encode({ currentOp: 1, 'command.comment': 'mine', $db: 'admin' }),
    sequences: [],
    legacy: false,
    remote: '10.0.0.1:5001',
  })
  const { inprog } = decode(listed.body) as unknown as { inprog: Document[] }
  t.equal(inprog.length, 1)
  t.match(inprog[0], {
    type: 'op',
    desc: 'conn3',
    connectionId: 3,
    active: true,
    threaded: true,
    opid: Number,
    secs_running: { low: 2 },
    microsecs_running: { low: 2_500_000 },
    op: 'command',
    ns: 'test.$cmd',
    command: { waitForever: 1 },
    numYields: 0,
    lsid: { id: Object, uid: Object },
    locks: {},
    waitingForLock: false,
  })
  t.same(await node.ok({ killOp: 1, op: inprog[0]!['opid'] }, admin), { info: 'attempting to kill op', ok: 1 })
  t.match(decode((await running).body), {
    ok: 0,
    code: 11601,
    codeName: 'Interrupted',
    errmsg: 'operation was interrupted',
  })
  t.equal(node.node.operations.size, 0)
})

t.test('currentOp for a router has the shard in its ids; D702: and no client', async (t) => {
  const { role } = waitingRole()
  const node = new NodeUnderTest({ role })
  void node.run({ waitForever: 1 })
  const { inprog } = (await node.ok({ currentOp: 1, op: 'command', 'command.waitForever': 1 }, admin)) as {
    inprog: Document[]
  }
  t.match(inprog[0], { shard: 'shard01', opid: /^shard01:\d+$/ })
  t.notOk('client_s' in inprog[0]!)
})

t.test('currentOp shows idle connections and truncates long commands', async (t) => {
  const { role } = waitingRole()
  const node = new NodeUnderTest({ role })
  const client = async (command: Document, connectionId: number) =>
    decode(
      (
        await node.node.clientCommand({
          connectionId,
          body: encode(command),
          sequences: [],
          legacy: false,
          remote: '10.0.0.1:1',
        })
      ).body,
    )
  await client(
    {
      hello: 1,
      client: { application: { name: 'shop' }, driver: { name: 'x', version: '1' }, os: { type: 'x' } },
      $db: 'admin',
    },
    4,
  )
  t.same((await client({ currentOp: 1, active: false, $db: 'admin' }, 5))['inprog'], [])
  const idle = (await client({ currentOp: 1, $all: true, active: false, $db: 'admin' }, 5))['inprog'] as Document[]
  t.match(idle, [
    { type: 'op', desc: 'conn4', client: '10.0.0.1:1', appName: 'shop', clientMetadata: { driver: { name: 'x' } } },
  ])
  t.notOk('opid' in idle[0]!)
  void client({ waitForever: 1, text: 'x'.repeat(2000), comment: 'long', $db: 'test' }, 6)
  const [long] = (await client({ currentOp: 1, desc: 'conn6', $db: 'admin' }, 5))['inprog'] as Document[]
  t.match(long!['command'], { $truncated: /^\{"waitForever":1.*\.\.\.$/, comment: 'long' })
})

t.test('killOp replies the same for unknown ids, but requires a number', async (t) => {
  const node = new NodeUnderTest()
  t.match(await node.run({ killOp: 1, op: 999 }, admin), { ok: 1 })
  t.match(await node.run({ killOp: 1 }, admin), { code: 4 })
  t.match(await node.run({ killOp: 1, op: 'x' }, admin), {
    code: 14,
    errmsg: 'Expected field "op" to have numeric type, but found string',
  })
  t.match(await node.run({ killOp: 1, op: 1.5 }, admin), {
    code: 2,
    errmsg: 'Expected field "op" to have a value exactly representable as a 64-bit integer, but found op: 1.5',
  })
  t.match(await node.run({ killOp: 1, op: 2 ** 33 }, admin), { code: 26823 })
})

t.test('killing sessions kills their cursors and operations, except the killing operation', async (t) => {
  const { role } = waitingRole()
  const node = new NodeUnderTest({ role })
  await node.ok({ insert: 'c', documents: [{}, {}, {}] })
  const open = async (byte: number) => node.ok({ find: 'c', batchSize: 1, lsid: session(byte) })
  await open(1)
  await open(2)
  await node.ok({ find: 'c', batchSize: 1 })
  const running = node.run({ waitForever: 1, lsid: session(2) })
  t.same(await node.ok({ killSessions: [session(2)], lsid: session(2) }), { ok: 1 })
  t.match(await running, { code: 11601 })
  t.equal(node.node.cursors.size, 2)
  await node.ok({ killAllSessions: [{ user: 'ada', db: 'admin' }] })
  t.equal(node.node.cursors.size, 2, 'no user is logged in')
  await node.ok({ killAllSessionsByPattern: [{ lsid: session(7) }] })
  t.equal(node.node.cursors.size, 2)
  await node.ok({ killAllSessionsByPattern: [{ lsid: session(1) }] })
  t.equal(node.node.cursors.size, 1)
  await open(3)
  await node.ok({ killAllSessions: [] })
  t.equal(node.node.cursors.size, 1, 'a cursor without a session stays')
  t.match(await node.run({ killSessions: 1 }), { code: 14 })
  t.match(await node.run({ killSessions: [1] }), { code: 14 })
  t.match(await node.run({ killAllSessions: [{ user: 'x' }] }), { code: 40414 })
  t.match(await node.run({ killAllSessionsByPattern: [{ nonsense: 1 }] }), { code: 40415 })
})

t.test('D713: getLog shows connections and slow operations, and nothing else', async (t) => {
  const { role, letGo } = waitingRole()
  const node = new NodeUnderTest({ role })
  const client = (command: Document) =>
    node.node.clientCommand({
      connectionId: 9,
      body: encode(command),
      sequences: [],
      legacy: false,
      remote: '10.0.0.1:9',
    })
  const running = client({ waitForever: 1, $db: 'test' })
  node.context.nowMs += 150
  letGo()
  await running
  await node.node.serve('client.disconnected', { connectionId: 9 })
  const { log, totalLinesWritten } = (await node.ok({ getLog: 'global' }, admin)) as {
    log: string[]
    totalLinesWritten: number
  }
  const lines = log.map((line) => JSON.parse(line) as Document)
  t.equal(totalLinesWritten, lines.length)
  t.same(
    lines.map(({ id, msg }) => [id, msg]),
    [
      [22943, 'Connection accepted'],
      [51803, 'Slow query'],
      [22944, 'Connection ended'],
    ],
  )
  t.match(lines[1], { s: 'I', c: 'COMMAND', attr: { durationMillis: 150, command: { waitForever: 1 } } })
  t.same(await node.ok({ getLog: 'startupWarnings' }, admin), { totalLinesWritten: 0, log: [], ok: 1 })
})

t.test('profile sets the threshold of slow operations; D706: levels that need a collection are refused', async (t) => {
  const node = new NodeUnderTest()
  t.same(await node.ok({ profile: -1 }), { was: 0, slowms: 100, sampleRate: 1, ok: 1 })
  await node.ok({ profile: 0, slowms: 20 })
  t.match(await node.ok({ profile: -1 }), { slowms: 20 })
  t.match(await node.run({ profile: 2 }), { code: 115 })
  t.match(await node.run({ profile: 0, sampleRate: 2 }), { code: 2 })
})

t.test('$currentOp checks its options and shows idle cursors', async (t) => {
  const node = new NodeUnderTest()
  const stage = async (argument: unknown) =>
    node.run({ aggregate: 1, pipeline: [{ $currentOp: argument }], cursor: {} }, admin)
  t.match(await stage({}), { cursor: { firstBatch: [{ type: 'op', command: { aggregate: 1 } }] } })
  t.match(await stage({ allUsers: 1 }), { code: 14 })
  t.match(await stage({ idleCursors: 1 }), { code: 9 })
  t.match(await stage({ nonsense: true }), { code: 9, errmsg: "Unrecognized option 'nonsense' in $currentOp stage." })
  await node.ok({ insert: 'c', documents: [{}, {}] })
  const { cursor } = await node.ok({ find: 'c', batchSize: 1 })
  const { firstBatch } = (await stage({ idleCursors: true }))['cursor'] as { firstBatch: Document[] }
  t.match(
    firstBatch.find(({ type }) => type === 'idleCursor'),
    { ns: 'test.c', cursor: { cursorId: cursor.id, noCursorTimeout: false } },
  )
})

for (const version of ['4.0', '4.4', '8.0'] as const)
  t.test(`${version}: a getMore has the comment of the command that opened its cursor, since 4.4`, async (t) => {
    const node = new NodeUnderTest({ version })
    await node.ok({ profile: 0, slowms: -1 })
    await node.ok({ insert: 'c', documents: [{}, {}, {}] })
    const { cursor } = await node.ok({ find: 'c', batchSize: 1, comment: 'of the find' })
    const getMore = { getMore: cursor.id, collection: 'c', batchSize: 1 }
    await node.ok(getMore)
    await node.ok({ ...getMore, comment: { own: 1 } })
    const { log } = (await node.ok({ getLog: 'global' }, admin)) as { log: string[] }
    const logged = log
      .map((line) => (JSON.parse(line) as Document)['attr'])
      .filter(({ command }) => command?.getMore !== undefined)
    t.same(
      logged.map(({ command }) => command.comment),
      [version === '4.0' ? undefined : 'of the find', { own: 1 }],
    )
  })

t.test('currentOp shows the comment that a waiting getMore has inherited', async (t) => {
  const node = new NodeUnderTest()
  await node.ok({ create: 'c', capped: true, size: 1000 })
  await node.ok({ insert: 'c', documents: [{}] })
  const { cursor } = await node.ok({ find: 'c', tailable: true, awaitData: true, comment: { of: 'the find' } })
  const waiting = node.run({ getMore: cursor.id, collection: 'c', maxTimeMS: 1000 })
  const { inprog } = (await node.ok({ currentOp: 1, op: 'getmore' }, admin)) as { inprog: Document[] }
  t.match(inprog, [{ op: 'getmore', command: { collection: 'c', comment: { of: 'the find' } } }])
  await node.ok({ insert: 'c', documents: [{}] })
  t.match(await waiting, { ok: 1 })
})
