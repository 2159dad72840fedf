/** Commands and errors that are not the same in every version. */
import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }

async function asClient(node: NodeUnderTest, command: Document): Promise<Document> {
  const body = encode({ ...command, $db: 'test' })
  const reply = await node.node.clientCommand({ connectionId: 1, body, sequences: [], legacy: false, remote: '' })
  const { operationTime: _, $clusterTime: __, ...rest } = decode(reply.body)
  return rest
}

t.test('a mongod of 2.6 repeats a command that it does not know', async (t) => {
  const command = { wings: 1, a: { b: 2 } }
  t.same(await asClient(new NodeUnderTest({ version: '2.6' }), command), {
    ok: 0,
    errmsg: 'no such cmd: wings',
    code: 59,
    'bad cmd': command,
  })
  t.same(await asClient(new NodeUnderTest({ version: '4.0' }), command), {
    ok: 0,
    errmsg: "no such command: 'wings'",
    code: 59,
    codeName: 'CommandNotFound',
  })
})

t.test('names that cannot be put together have errors of their own', async (t) => {
  const node = new NodeUnderTest()
  const nul = 'namespaces cannot have embedded null characters'
  for (const command of ['find', 'insert', 'create', 'drop', 'count', 'listIndexes', 'createIndexes']) {
    const more = { documents: [{}], indexes: [{ key: { a: 1 }, name: 'a' }] }
    const extra = command === 'insert' ? { documents: more.documents } : {}
    const fields = command === 'createIndexes' ? { indexes: more.indexes } : extra
    t.match(await node.run({ [command]: 'a\0b', ...fields }), { code: 73, errmsg: nul }, command)
    t.match(await node.run({ [command]: '.a', ...fields }), {
      code: 73,
      errmsg: "Collection names cannot start with '.': .a",
    })
    t.match(await node.run({ [command]: '', ...fields }), { code: 73, errmsg: "Invalid namespace specified 'test.'" })
  }
  t.match(await node.run({ renameCollection: 'test.a', to: 'test.b\0c' }, admin), { code: 73, errmsg: nul })
})

t.test('getPrevError of 2.6 counts the commands since an error, and resetError forgets it', async (t) => {
  const node = new NodeUnderTest({ version: '2.6' })
  const none = { err: null, n: 0, nPrev: -1, ok: 1 }
  await asClient(node, { ping: 1 })
  t.same(await asClient(node, { getpreverror: 1 }), none)
  await asClient(node, { insert: 'c', documents: [{ _id: 1 }, { _id: 1 }] })
  t.match(await asClient(node, { getPrevError: 1 }), { err: /E11000/, code: 11000, n: 0, nPrev: 1, ok: 1 })
  await asClient(node, { ping: 1 })
  t.match(await asClient(node, { getPrevError: 1 }), { err: /E11000/, nPrev: 2 })
  await asClient(node, { update: 'c', updates: [{ q: { _id: 1 }, u: { a: 1 } }] })
  t.same(await asClient(node, { getPrevError: 1 }), { err: null, updatedExisting: true, n: 1, nPrev: 1, ok: 1 })
  t.same(await asClient(node, { reseterror: 1 }), { ok: 1 })
  t.same(await asClient(node, { getPrevError: 1 }), none)
  for (const [version, names] of [
    ['4.0', ['getPrevError']],
    ['5.0', ['getPrevError', 'resetError', 'reseterror']],
  ] as const)
    for (const name of names) t.match(await new NodeUnderTest({ version }).run({ [name]: 1 }), { code: 59 }, name)
  await new NodeUnderTest({ version: '4.4' }).ok({ resetError: 1 })
})

t.test('since 4.4 errors of createIndexes name the build', async (t) => {
  const failed = async (version: EmulatedVersion) => {
    const node = new NodeUnderTest({ version })
    await node.ok({
      insert: 'c',
      documents: [
        { _id: 1, a: 1 },
        { _id: 2, a: 1 },
      ],
    })
    return node.run({ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a_1', unique: true }] })
  }
  for (const version of ['2.6', '4.0'] as const)
    t.match(await failed(version), { code: 11000, errmsg: /^E11000 duplicate key error collection: test\.c / })
  t.match(await failed('4.4'), {
    code: 11000,
    errmsg: /^Index build failed: .*: Collection test\.c \( .* \) :: caused/,
  })
})

t.test('the error of a step-down depends on the version', async (t) => {
  const stepDown = async (version: EmulatedVersion) => {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'c', documents: [{ _id: 1 }] })
    return node.run({ replSetStepDown: 60, secondaryCatchUpPeriodSecs: 0 }, admin)
  }
  const old = await stepDown('2.6')
  t.match(old, { ok: 0, errmsg: 'no secondaries within 10 seconds of my optime', closest: { low: 0 } })
  t.notOk('code' in old)
  t.match(await stepDown('4.0'), { code: 262, errmsg: /as of \S+\+0000\. Please use the replSetStepDown command/ })
  t.match(await stepDown('4.4'), { code: 262, errmsg: /as of \S+\+00:00\. Please use the replSetStepDown command/ })
})
