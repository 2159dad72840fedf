import { decode, encode, type Document } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const strict = { apiVersion: '1', apiStrict: true }

async function client(node: NodeUnderTest, command: Document): Promise<Document> {
  const body = encode({ ...command, $db: (command['$db'] as string | undefined) ?? 'test' })
  return decode(
    (await node.node.clientCommand({ connectionId: 1, body, sequences: [], legacy: false, remote: '' })).body,
  )
}

t.test('API parameters are validated', async (t) => {
  const node = new NodeUnderTest()
  t.match(await client(node, { ping: 1, apiStrict: true }), {
    code: 4886600,
    errmsg: 'Provided apiStrict and/or apiDeprecationErrors without passing apiVersion',
  })
  t.match(await client(node, { ping: 1, apiVersion: '2' }), {
    code: 322,
    codeName: 'APIVersionError',
    errmsg: 'Cannot accept API version 2',
  })
  t.match(await client(node, { ping: 1, apiVersion: '3' }), { code: 322, errmsg: 'API version must be "1"' })
  t.match(await client(node, { ping: 1, apiVersion: 1 }), { code: 14 })
  t.match(await client(node, { ping: 1, apiVersion: '1', apiDeprecationErrors: true }), { ok: 1 })
})

t.test('apiStrict refuses commands, arguments and stages outside the Stable API', async (t) => {
  const node = new NodeUnderTest()
  await client(node, { insert: 'c', documents: [{ a: 1 }], ...strict })
  for (const command of [
    { ping: 1 },
    { find: 'c' },
    { count: 'c' },
    { aggregate: 'c', pipeline: [{ $collStats: { count: {} } }], cursor: {} },
  ])
    t.match(await client(node, { ...command, ...strict }), { ok: 1 }, Object.keys(command)[0]!)
  const refused: readonly (readonly [Document, RegExp])[] = [
    [
      { serverStatus: 1 },
      /^Provided apiStrict:true, but the command serverStatus is not in API Version 1\. Information/,
    ],
    [{ distinct: 'c', key: 'a' }, /the command distinct is not in API Version 1/],
    [{ find: 'c', tailable: true }, /^BSON field 'find.tailable' is not allowed with apiStrict:true\.$/],
    [{ create: 'd', capped: true, size: 1000 }, /'create.capped' is not allowed/],
    [{ createIndexes: 'c', indexes: [{ key: { a: 1 }, name: 'a', sparse: true }] }, /sparse/],
    [
      { aggregate: 'c', pipeline: [{ $indexStats: {} }], cursor: {} },
      /^\$indexStats is not allowed with 'apiStrict: true' in API Version 1$/,
    ],
    [{ aggregate: 1, pipeline: [{ $listLocalSessions: {} }], cursor: {} }, /^\$listLocalSessions is not allowed/],
    [
      { aggregate: 'c', pipeline: [{ $collStats: { storageStats: {} } }], cursor: {} },
      /^only the 'count' option to \$collStats/,
    ],
    [{ insert: 'system.js', documents: [{ _id: 'f' }] }, /attempts to write to system\.js/],
  ]
  for (const [command, errmsg] of refused)
    t.match(await client(node, { ...command, ...strict }), { code: 323, codeName: 'APIStrictError', errmsg })
})

t.test('D712 the test commands of API versions exist, and an unknown fail point is refused', async (t) => {
  const node = new NodeUnderTest()
  const deprecation = { apiVersion: '1', apiDeprecationErrors: true }
  t.same(
    await client(node, { testDeprecation: 1, apiVersion: '1', apiStrict: true }).then(({ apiVersion, apiStrict }) => [
      apiVersion,
      apiStrict,
    ]),
    ['1', true],
  )
  t.match(await client(node, { testDeprecation: 1, ...deprecation }), {
    code: 324,
    errmsg: 'Provided apiDeprecationErrors:true, but the command testDeprecation is deprecated in API Version 1.',
  })
  t.match(await client(node, { testDeprecationInVersion2: 1, ...deprecation }), { ok: 1, apiDeprecationErrors: true })
  for (const name of ['testDeprecationInVersion2', 'testRemoval', 'testVersions1And2'])
    t.match(await client(node, { [name]: 1, ...strict }), { ok: 1 }, name)
  t.match(await client(node, { testVersion2: 1, ...strict }), { code: 323 })
  t.match(await client(node, { testVersion2: 1 }), { ok: 1 })
  t.match(await client(new NodeUnderTest({ version: '4.4' }), { testVersion2: 1 }), { code: 59 })
  t.match(await client(node, { configureFailPoint: 'unheardOf', mode: 'off', $db: 'admin' }), {
    code: 266,
    codeName: 'FailPointSetFailed',
    errmsg: 'unheardOf not found',
  })
})

t.test('apiStrict does not apply to commands of members', async (t) => {
  const node = new NodeUnderTest()
  t.match(await node.run({ serverStatus: 1, ...strict }), { ok: 1 })
})
