/**
 * configureQueryAnalyzer: errors, documents, end of sampling. Manual:
 * reference/command/configureQueryAnalyzer.
 */
import t from 'tap'
import type { Document } from '@shardlab/bson'
import { AnalysedCluster, refreshMs } from './analysed-cluster.js'

const ns = 'shop.orders'

t.test('configureQueryAnalyzer is unknown before 7.0', async (t) => {
  await using world = await AnalysedCluster.start({ emulate: '6.0' })
  await world.insert('orders', [{ x: 1 }])
  t.match(await world.admin({ configureQueryAnalyzer: ns, mode: 'off' }), { code: 59 })
  t.match(await world.admin({ analyzeShardKey: ns, key: { x: 1 } }), { code: 59 })
  t.match(await world.admin({ aggregate: 1, pipeline: [{ $listSampledQueries: {} }], cursor: {} }), { code: 40324 })
  t.match(await world.admin({ getParameter: 1, queryAnalysisWriterIntervalSecs: 1 }), { code: 72 })
  t.notOk('queryAnalyzers' in (await world.admin({ serverStatus: 1 })))
  t.match(await world.run({ update: 'orders', updates: [{ q: {}, u: { $set: { a: 1 } }, sampleId: 1 }] }), {
    code: 40415,
  })
})

t.test('a cluster without sampling refuses configureQueryAnalyzer', async (t) => {
  await using world = await AnalysedCluster.start({ samplesQueries: false })
  await world.insert('orders', [{ x: 1 }])
  await world.cluster.advance(2 * refreshMs)
  t.match(await world.admin({ configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond: 1 }), {
    code: 20,
    errmsg: 'This cluster was started with samplesQueries: false',
  })
  t.notOk('queryAnalyzers' in (await world.admin({ serverStatus: 1 }, 'shard01')))
})

t.test('configureQueryAnalyzer refuses invalid arguments', async (t) => {
  for (const emulate of ['7.0', '8.0'] as const) {
    await using world = await AnalysedCluster.start({ emulate })
    await world.insert('orders', [{ x: 1 }])
    await world.run({ create: 'view', viewOn: 'orders', pipeline: [] })
    const full = { mode: 'full', samplesPerSecond: 1 }
    const refused: [Document, number, RegExp][] = [
      [{ configureQueryAnalyzer: 'shop', ...full }, 73, /Invalid namespace specified 'shop'/],
      [{ configureQueryAnalyzer: 'shop.', ...full }, 73, /Invalid namespace/],
      [{ configureQueryAnalyzer: 'config.chunks', ...full }, 20, /internal collection/],
      [{ configureQueryAnalyzer: 'admin.users', ...full }, 20, /internal collection/],
      [{ configureQueryAnalyzer: 'shop.system.profile', ...full }, 20, /system collection/],
      [{ configureQueryAnalyzer: 'shop.enxcol_.basic.esc', ...full }, 20, /internal collection/],
      [{ configureQueryAnalyzer: 'shop.view', ...full }, 166, /corresponds to a view/],
      [{ configureQueryAnalyzer: 'shop.missing', ...full }, 26, /does not exist/],
      [{ configureQueryAnalyzer: 'nowhere.missing', ...full }, 26, /nowhere/],
      [{ configureQueryAnalyzer: ns }, 40414, /configureQueryAnalyzer.mode' is missing/],
      [{ configureQueryAnalyzer: ns, mode: 'some' }, 2, /Enumeration value 'some' for field/],
      [{ configureQueryAnalyzer: ns, mode: 1 }, 14, /expected type 'string'/],
      [{ configureQueryAnalyzer: ns, mode: 'full' }, 72, /must be specified when 'mode' is not "off"/],
      [{ configureQueryAnalyzer: ns, mode: 'off', samplesPerSecond: 1 }, 72, /when 'mode' is "off"/],
      [{ configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond: 0 }, 72, /greater than 0/],
      [{ configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond: 51 }, 72, /less than or equal to 50/],
      [{ configureQueryAnalyzer: ns, mode: 'full', samplesPerSecond: 'x' }, 14, /samplesPerSecond/],
      [{ configureQueryAnalyzer: ns, ...full, writeConcern: { w: 'majority' } }, 72, /writeConcern/i],
      [{ configureQueryAnalyzer: ns, ...full, readConcern: { level: 'available' } }, 72, /read concern/i],
    ]
    for (const [command, code, message] of refused) {
      const reply = await world.admin(command)
      t.match(reply, { ok: 0, code, errmsg: message }, `${emulate} ${JSON.stringify(command)}`)
    }
    t.match(await world.run({ configureQueryAnalyzer: ns, ...full }), { code: 13 }, 'only on admin')
    t.same(await world.find('queryAnalyzers'), [], 'nothing was changed')
  }
})

t.test('the configuration is stored, returned and stopped', async (t) => {
  await using world = await AnalysedCluster.start()
  await world.insert('orders', [{ x: 1 }])
  const configure = (configuration: Document) => world.admin({ configureQueryAnalyzer: ns, ...configuration })
  const document = async () => (await world.find('queryAnalyzers'))[0]!
  t.same(
    await configure({ mode: 'off' }),
    { newConfiguration: { mode: 'off' }, ok: 1 },
    'there is nothing to switch off',
  )
  t.same(await world.find('queryAnalyzers'), [])
  t.same(await configure({ mode: 'full', samplesPerSecond: 50, unknown: 1 }), {
    newConfiguration: { mode: 'full', samplesPerSecond: 50 },
    ok: 1,
  })
  const first = await document()
  t.same(Object.keys(first), ['_id', 'collUuid', 'mode', 'samplesPerSecond', 'startTime'])
  await world.cluster.advance(1000)
  t.same(await configure({ mode: 'full', samplesPerSecond: 0.2 }), {
    newConfiguration: { mode: 'full', samplesPerSecond: 0.2 },
    oldConfiguration: { mode: 'full', samplesPerSecond: 50 },
    ok: 1,
  })
  t.same((await document())['startTime'], first['startTime'], 'another rate is no new beginning')
  t.match(await configure({ mode: 'off' }), {
    newConfiguration: { mode: 'off' },
    oldConfiguration: { mode: 'full', samplesPerSecond: 0.2 },
  })
  const stopped = await document()
  t.same(Object.keys(stopped), ['_id', 'collUuid', 'mode', 'samplesPerSecond', 'startTime', 'stopTime'])
  await world.cluster.advance(1000)
  t.same(await configure({ mode: 'off' }), { newConfiguration: { mode: 'off' }, ok: 1 })
  t.same((await document())['stopTime'], stopped['stopTime'], 'the first stop counts')
  t.match(await configure({ mode: 'full', samplesPerSecond: 1 }), {
    oldConfiguration: { mode: 'off', samplesPerSecond: 0.2 },
  })
  t.ok((await document())['startTime'] > first['startTime'])
  t.notOk('stopTime' in (await document()))
  await world.run({ drop: 'orders' })
  t.same(await world.find('queryAnalyzers'), [], 'a drop ends it')
  await world.insert('orders', [{ x: 1 }])
  t.notOk(
    'oldConfiguration' in (await configure({ mode: 'full', samplesPerSecond: 1 })),
    'another collection of the same name',
  )
  await world.admin({ renameCollection: ns, to: 'shop.others' })
  t.same(await world.find('queryAnalyzers'), [], 'a rename ends it')
  await world.shardedOrders()
  await configure({ mode: 'full', samplesPerSecond: 1 })
  await world.run({ drop: 'orders' })
  t.same(await world.find('queryAnalyzers'), [], 'a drop of a sharded collection ends it')
  await world.insert('orders', [{ x: 1 }])
  await configure({ mode: 'full', samplesPerSecond: 1 })
  await world.run({ dropDatabase: 1 })
  t.same(await world.find('queryAnalyzers'), [], 'and so does the end of the database')
})
