import t from 'tap'
import { decode, encode, findField, Long, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import { NodeUnderTest, session, shape } from './support/harness.js'

const admin = { $db: 'admin' }
let connections = 0

function client(node: NodeUnderTest, appName?: string) {
  const connectionId = ++connections
  const bytes = async (command: Document) => {
    const body = encode({ ...command, $db: command['$db'] ?? 'test' })
    return (
      await node.node.clientCommand({ connectionId, body, sequences: [], legacy: false, remote: '127.0.0.1:5000' })
    ).body
  }
  const run = async (command: Document): Promise<Document> => decode(await bytes(command))
  return {
    connectionId,
    bytes,
    run,
    greet: () =>
      run({
        hello: 1,
        client: { application: { name: appName ?? '' }, driver: { name: 'x', version: '1' }, os: { type: 'x' } },
      }),
    failCommand: (mode: unknown, data: Document = {}) =>
      run({ configureFailPoint: 'failCommand', mode, data, ...admin }),
  }
}

const newClient = (version: EmulatedVersion = '7.0') => client(new NodeUnderTest({ version }))
const fails = { failCommands: ['ping'], errorCode: 2 }

async function pings(run: (command: Document) => Promise<Document>, count: number): Promise<number[]> {
  const answers: number[] = []
  for (let i = 0; i < count; i++) answers.push((await run({ ping: 1 }))['ok'] as number)
  return answers
}

t.test('a fail point follows its mode', async (t) => {
  const { run, failCommand } = newClient()
  t.match(await failCommand('alwaysOn', fails), { ok: 1, count: 0 })
  await failCommand('off')
  t.same(await pings(run, 2), [1, 1], 'off')
  await failCommand({ times: 2 }, fails)
  t.same(await pings(run, 4), [0, 0, 1, 1])
  t.match(await failCommand({ skip: 2 }, fails), { count: 2 })
  t.same(await pings(run, 4), [1, 1, 0, 0])
  await failCommand({ times: 0 }, fails)
  t.same(await pings(run, 2), [0, 1], 'as on the server: none is once')
  await failCommand({ activationProbability: 0.5 }, fails)
  const drawn = await pings(run, 200)
  t.ok(drawn.includes(0) && drawn.includes(1))
  await failCommand({ activationProbability: 0 }, fails)
  t.notOk((await pings(run, 20)).includes(0))
})

t.test('an invalid mode changes nothing', async (t) => {
  const { run, failCommand } = newClient()
  const refused: [Document, number, RegExp][] = [
    [{}, 20, /you must supply a 'mode'/],
    [{ mode: 'sometimes' }, 2, /^unknown mode: sometimes$/],
    [{ mode: true }, 14, /^'mode' must be a string or JSON object$/],
    [{ mode: { period: 3 } }, 2, /^'mode' must be one of/],
    [{ mode: { times: 'two' } }, 14, /^Expected field "times" to have numeric type, but found string$/],
    [{ mode: { times: 1.5 } }, 2, /exactly representable/],
    [{ mode: { times: -1 } }, 2, /^'times' option to 'mode' must be positive$/],
    [{ mode: { skip: 2 ** 31 } }, 2, /^'skip' option to 'mode' is too large$/],
    [{ mode: { activationProbability: 'often' } }, 14, /must be a double between 0 and 1$/],
    [{ mode: { activationProbability: 2 } }, 2, /^activationProbability must be between 0.0 and 1.0; found 2$/],
    [{ mode: 'alwaysOn', data: 1 }, 14, /^the 'data' option must be a JSON object$/],
  ]
  await failCommand({ times: 1 }, fails)
  for (const [fields, code, errmsg] of refused) {
    t.match(await run({ configureFailPoint: 'failCommand', ...fields, ...admin }), { ok: 0, code, errmsg })
  }
  t.same(await pings(run, 2), [0, 1], 'the previous setting is kept')
  t.match(await run({ configureFailPoint: 'failCommand', mode: 'off' }), { code: 13 }, 'admin only')
  t.match(await run({ configureFailPoint: 'failUnheardOf', mode: 'off', ...admin }), {
    code: 266,
    errmsg: 'failUnheardOf not found',
  })
})

t.test('the options of failCommand depend on the version', async (t) => {
  const { failCommand: of26 } = newClient('2.6')
  t.match(await of26('off'), { code: 266 })
  const old = newClient('4.0')
  t.notOk('count' in (await old.failCommand('alwaysOn', { ...fails, appName: 'nobody' })))
  t.match(await old.run({ ping: 1 }), { code: 2 }, 'appName means nothing yet')
  t.match(await old.failCommand({ skip: 1 }), { code: 2, errmsg: /'\{times:n\}', and '\{activationProbability:p\}'$/ })
  t.match(await old.run({ waitForFailPoint: 'failCommand', timesEntered: 1, maxTimeMS: 1, ...admin }), { code: 59 })
  t.match(await old.run({ configureFailPoint: 'moveChunkHangAtStep3', mode: 'off', ...admin }), { code: 266 })
  for (const [version, ok] of [
    ['5.0', 1],
    ['6.0.2', 0],
    ['8.0', 0],
  ] as const) {
    const { run, failCommand } = newClient(version)
    await failCommand('alwaysOn', { failAllCommands: true, errorCode: 2 })
    t.match(await run({ ping: 1 }), { ok }, `failAllCommands under ${version}`)
    t.match(await failCommand('off'), { ok: 1 }, 'configureFailPoint itself never fails')
  }
})

t.test('the fail points depend on the version', async (t) => {
  const since: [EmulatedVersion | null, EmulatedVersion, string[]][] = [
    ['4.0', '4.4', ['failGetMoreAfterCursorCheckout', 'moveChunkHangAtStep6', 'suspendRangeDeletion']],
    ['4.4', '5.0', ['reshardingPauseCoordinatorBeforeCloning']],
    ['5.0', '6.0.2', ['reshardingPauseCoordinatorBeforeBlockingWrites']],
    ['7.0', '8.0', ['hangBeforeCloningData', 'hangBeforeMovePrimaryCriticalSection']],
    [null, '2.6', ['dummy', 'maxTimeAlwaysTimeOut']],
  ]
  for (const [without, first, names] of since) {
    for (const name of names) {
      const command = { configureFailPoint: name, mode: 'off', ...admin }
      if (without !== null) t.match(await newClient(without).run(command), { code: 266 }, `${name} under ${without}`)
      for (const version of [first, '8.0'] as const)
        t.match(await newClient(version).run(command), { ok: 1 }, `${name} under ${version}`)
    }
  }
})

t.test('D912 failCommand sets the error, its labels and its fields', async (t) => {
  const { bytes, run, failCommand } = newClient()
  await failCommand('alwaysOn', {
    failCommands: ['ping'],
    errorCode: 13388,
    errorExtraInfo: { ns: 'a.b' },
    errorLabels: ['One', 'Two'],
  })
  const reply = await bytes({ ping: 1 })
  t.equal(
    shape(reply),
    'ok:double errmsg:string code:int codeName:string errorLabels:array ns:string $clusterTime:object operationTime:timestamp',
  )
  t.match(decode(reply), {
    errmsg: "Failing command via 'failCommand' failpoint",
    code: 13388,
    codeName: 'StaleConfig',
    errorLabels: ['One', 'Two'],
    ns: 'a.b',
  })
  const write = { insert: 'c', documents: [{ _id: 1 }], lsid: session(1), txnNumber: Long.fromNumber(1) }
  await failCommand('alwaysOn', { failCommands: ['insert'], errorCode: 91 })
  t.match(await run(write), { code: 91, errorLabels: ['RetryableWriteError'] })
  await failCommand('alwaysOn', { failCommands: ['insert'], errorCode: 91, errorLabels: [] })
  t.notOk('errorLabels' in (await run(write)), 'an empty array removes the labels')
  await failCommand('alwaysOn', {
    failCommands: ['insert'],
    blockConnection: true,
    blockTimeMS: 1,
    errorLabels: ['Mine'],
  })
  t.match(await run({ ...write, documents: 1 }), { ok: 0, errorLabels: undefined }, 'arguments are read first')
  t.match(await run({ ...write, insert: '' }), { ok: 0, errorLabels: ['Mine'] }, 'other errors also have them')
  const old = newClient('4.0')
  await old.failCommand('alwaysOn', { failCommands: ['insert'], errorCode: 91 })
  t.notOk('errorLabels' in (await old.run(write)), 'before 4.4 drivers add the label themselves')
})

t.test('failCommand selects clients and commands', async (t) => {
  const node = new NodeUnderTest()
  const meant = client(node, 'meant')
  const other = client(node, 'other')
  await meant.failCommand('alwaysOn', { failCommands: ['ping', 'hello', 'getMore'], errorCode: 2, appName: 'meant' })
  t.match(await meant.greet(), { code: 2 }, 'the first hello has the appName')
  t.match(await other.greet(), { ok: 1 })
  t.same(
    [await pings(meant.run, 1), await pings(other.run, 1)],
    [[1], [1]],
    'a client whose hello failed has no appName',
  )
  t.match(await other.run({ isMaster: 1 }), { ok: 1 })

  await meant.failCommand('alwaysOn', { failCommands: ['find', 'getMore'], errorCode: 2, namespace: 'test.c' })
  await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
  t.match(await meant.run({ find: 'c' }), { code: 2 })
  t.match(await meant.run({ find: 'd' }), { ok: 1 })
  t.match(await meant.run({ getMore: Long.fromNumber(7), collection: 'c' }), { code: 2 })

  await meant.failCommand('alwaysOn', { ...fails, threadName: `conn${other.connectionId}` })
  t.same([await pings(meant.run, 1), await pings(other.run, 1)], [[1], [0]])

  await meant.failCommand({ times: 1 }, fails)
  t.match(await node.run({ ping: 1 }), { ok: 1 }, 'commands of other members are not affected')
  t.same(await pings(meant.run, 2), [0, 1])
  await meant.failCommand({ times: 1 }, { ...fails, failInternalCommands: true })
  t.match(await node.run({ ping: 1 }), { code: 2 })
  await meant.failCommand({ times: 1 }, { failCommands: ['ping'], closeConnection: true, failInternalCommands: true })
  t.match(await node.run({ ping: 1 }), { code: 6, codeName: 'HostUnreachable' })
})

t.test('failCommand closes the connection, blocks the command or adds a write concern error', async (t) => {
  const node = new NodeUnderTest()
  const { bytes, run, failCommand } = client(node)
  await failCommand({ times: 1 }, { failCommands: ['insert'], closeConnection: true, errorCode: 2 })
  const insert = { insert: 'c', documents: [{ _id: 1 }] }
  t.equal((await bytes(insert)).length, 0, 'no reply')
  t.same(await node.all('c'), [], 'and no effect')

  await failCommand({ times: 1 }, { failCommands: ['ping'], blockConnection: true, blockTimeMS: 250 })
  t.match(await run({ ping: 1 }), { ok: 1 })
  t.same(node.context.sleeps, [250])
  await failCommand({ times: 1 }, { failCommands: ['ping'], blockConnection: true })
  t.match(await run({ ping: 1 }), { code: 72, errmsg: "must specify 'blockTimeMS' when 'blockConnection' is true" })
  await failCommand({ times: 1 }, { failCommands: ['ping'], blockConnection: true, blockTimeMS: -1 })
  t.match(await run({ ping: 1 }), { code: 72, errmsg: "'blockTimeMS' must be non-negative" })

  await run({ create: 'log', capped: true, size: 4096 })
  await run({ insert: 'log', documents: [{ _id: 1 }, { _id: 2 }] })
  const { cursor } = await run({ find: 'log', tailable: true, awaitData: true, batchSize: 1 })
  await failCommand({ times: 1 }, { failCommands: ['getMore'], blockConnection: true, blockTimeMS: 250 })
  t.match(
    await run({ getMore: cursor.id, collection: 'log', maxTimeMS: 40 }),
    { ok: 1, cursor: { nextBatch: [{ _id: 2 }] } },
    'maxTimeMS limits the wait for documents only',
  )

  const writeConcernError = { code: 91, errmsg: 'no' }
  await failCommand({ times: 1 }, { failCommands: ['ping', 'insert'], writeConcernError, errorLabels: ['Mine'] })
  t.match(await run({ ping: 1 }), { ok: 1, writeConcernError: undefined })
  t.match(await run(insert), { ok: 1, n: 1, writeConcernError, errorLabels: ['Mine'] })
  t.notOk('writeConcernError' in (await run({ delete: 'c', deletes: [{ q: {}, limit: 1 }] })))
})

t.test('fail points make maxTimeMS expire always or never', async (t) => {
  const { run } = newClient()
  const set = (name: string, mode: string) => run({ configureFailPoint: name, mode, ...admin })
  await set('maxTimeAlwaysTimeOut', 'alwaysOn')
  t.match(await run({ ping: 1, maxTimeMS: 1000 }), { code: 50, errmsg: 'operation exceeded time limit' })
  t.match(await run({ ping: 1 }), { ok: 1 })
  await set('maxTimeNeverTimeOut', 'alwaysOn')
  t.match(await run({ ping: 1, maxTimeMS: 1000 }), { ok: 1 })
})

t.test('a fail point stops a getMore that has found its cursor', async (t) => {
  const { run } = newClient()
  await run({ insert: 'c', documents: [{ _id: 1 }, { _id: 2 }, { _id: 3 }] })
  const open = async () => ((await run({ find: 'c', batchSize: 1 }))['cursor'] as Document)['id'] as Long
  const set = (data: Document) =>
    run({ configureFailPoint: 'failGetMoreAfterCursorCheckout', mode: { times: 1 }, data, ...admin })
  await set({ errorCode: 280 })
  const id = await open()
  t.match(
    await run({ getMore: Long.fromNumber(5), collection: 'c' }),
    { code: 43 },
    'without a cursor there is nothing to fail',
  )
  const getMore = { getMore: id, collection: 'c' }
  t.match(await run(getMore), { code: 280, errmsg: "Hit the 'failGetMoreAfterCursorCheckout' failpoint" })
  t.match(await run(getMore), { code: 43 }, 'the cursor is gone')
  await set({})
  t.match(await run({ getMore: await open(), collection: 'c' }), { code: 1 })
  t.match(await newClient('4.0').run({ configureFailPoint: 'failGetMoreAfterCursorCheckout', mode: 'off', ...admin }), {
    code: 266,
  })
})

t.test('waitForFailPoint waits for a fail point, and getParameter reads it', async (t) => {
  const { bytes, run, failCommand } = newClient()
  await failCommand({ times: 1 }, fails)
  const wait = { waitForFailPoint: 'failCommand', timesEntered: 1, ...admin }
  t.match(await run({ ...wait, maxTimeMS: 50 }), { code: 50 })
  t.match(await run(wait), {
    code: 40414,
    errmsg: "BSON field 'waitForFailPoint.maxTimeMS' is missing but a required field",
  })
  t.match(await run({ ...wait, waitForFailPoint: 'unheardOf', maxTimeMS: 50 }), { code: 266 })
  await run({ ping: 1 })
  t.match(await run({ ...wait, maxTimeMS: 50 }), { ok: 1 })
  const read = { getParameter: 1, 'failpoint.failCommand': 1, ...admin }
  t.match(await run(read), { 'failpoint.failCommand': { mode: 3, data: fails, timesEntered: Long.fromNumber(1) } })
  t.equal(
    shape(findField(await bytes(read), 'failpoint.failCommand')!.slice()),
    'mode:int data:object timesEntered:long',
  )
  t.match(await run({ setParameter: 1, 'failpoint.failCommand': {}, ...admin }), { code: 20 })
})

t.test('a fail point at a named step pauses or fails it', async (t) => {
  const node = new NodeUnderTest()
  const { run } = client(node)
  const set = (name: string, mode: unknown) => run({ configureFailPoint: name, mode, ...admin })
  const passed: string[] = []
  const reach = async (step: string, detail = {}) => {
    await node.node.context.reach(step, detail)
    passed.push(step)
  }
  await set('moveChunkHangAtStep3', 'alwaysOn')
  const held = reach('shard.migration.recipient-asked')
  await reach('shard.migration.caught-up')
  t.same(passed, ['shard.migration.caught-up'])
  t.match(await run({ waitForFailPoint: 'moveChunkHangAtStep3', timesEntered: 1, maxTimeMS: 100, ...admin }), { ok: 1 })
  t.match(await set('moveChunkHangAtStep3', 'off'), { count: 1 })
  await held
  t.same(passed, ['shard.migration.caught-up', 'shard.migration.recipient-asked'])

  await set('failMigrationCommit', { times: 1 })
  await t.rejects(reach('shard.migration.recipient-committed'), {
    code: 1,
    message: /Failing _recvChunkCommit due to failpoint/,
  })
  await reach('shard.migration.recipient-committed')

  await set('hangBeforeSendingAbortDecision', 'alwaysOn')
  await reach('shard.migration.applied', { decision: 'committed' })
  const stopped = reach('shard.migration.applied', { decision: 'aborted' })
  node.node.stop()
  await stopped
})
