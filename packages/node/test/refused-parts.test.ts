import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const index = (key: object, more: object = {}) => ({ createIndexes: 'c', indexes: [{ name: 'i', key, ...more }] })

const refused: readonly (readonly [name: string, commands: readonly object[], db?: string])[] = [
  [
    'create',
    [
      { create: 'a', timeseries: { timeField: 't' } },
      { create: 'b', encryptedFields: { fields: [] } },
    ],
  ],
  [
    'createIndexes',
    [
      index({ a: 'text' }),
      index({ a: '2d' }),
      index({ a: '2dsphere' }),
      index({ a: 'geoHaystack' }, { bucketSize: 1 }),
      index({ '$**': 'text' }),
      index({ '$**': 1, a: 1 }),
    ],
  ],
  [
    'applyOps',
    ['dbCheck', 'emptycapped', 'importCollection', 'commitTransaction'].map((name) => ({
      applyOps: [{ op: 'c', ns: 'test.$cmd', o: { [name]: 'c' } }],
    })),
  ],
  ['filemd5', [{ filemd5: 1, partialOk: true }]],
  ['collMod', [{ collMod: 'c', timeseries: { granularity: 'hours' } }]],
  ['profile', [{ profile: 1 }, { profile: 2 }, { profile: 0, filter: { op: 'query' } }]],
  ['mapReduce', [{ mapReduce: 'c', map: 'f', reduce: 'g', out: { inline: 1 } }]],
  ['setParameter', [{ setParameter: 1, internalQueryForceClassicEngine: true }], 'admin'],
  ['configureFailPoint', [{ configureFailPoint: 'moveChunkHangAtStep7', mode: 'alwaysOn', data: {} }], 'admin'],
  ['saslStart', [{ saslStart: 1, mechanism: 'GSSAPI', payload: '' }]],
  ['authenticate', [{ authenticate: 1, mechanism: 'MONGODB-CR' }]],
  ['features', [{ features: 1, oidReset: true }]],
]

t.test('D714: $listClusterCatalog runs on routers only', async (t) => {
  t.match(
    await new NodeUnderTest({ version: '8.0' }).run({
      aggregate: 1,
      pipeline: [{ $listClusterCatalog: {} }],
      cursor: {},
    }),
    {
      code: 40324,
    },
  )
})

t.test('missing parts are refused', async (t) => {
  const node = new NodeUnderTest({ version: '8.0' })
  await node.ok({ insert: 'c', documents: [{ a: 1 }] })
  for (const [name, commands, db = 'test'] of refused) {
    for (const command of commands) {
      const reply = await node.run(command, { db })
      t.match(reply, { ok: 0, code: Number, errmsg: String }, JSON.stringify(command))
    }
    if (node.node.table.find(name)!.status === 'full') t.fail(`${name} is full: it refuses nothing any more`)
  }
  const known = new Set(refused.map(([name]) => name))
  const missing = node.node.table.rows.filter((row) => row.missing !== undefined).map(({ name }) => name)
  t.strictSame(
    missing.filter((name) => !known.has(name)),
    [],
    'every row that calls something missing stands here',
  )
})
