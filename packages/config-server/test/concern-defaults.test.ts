/** Server: read_write_concern_defaults.cpp. */
import { decode, encode, type Document } from '@shardlab/bson'
import type { EmulatedVersion } from '@shardlab/sharding'
import t from 'tap'
import { ConfigUnderTest } from './support/config.js'

async function configOf(version: EmulatedVersion = '7.0') {
  const config = await new ConfigUnderTest(version).initialised()
  const run = async (command: Document, db = 'admin'): Promise<Document> => {
    const { body } = await config.send('node.command', {
      db,
      body: encode({ ...command, $db: db }),
      sequences: [],
      shardVersion: null,
      databaseVersion: null,
      stmtIds: null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    })
    return decode(body)
  }
  const set = (fields: Document) => run({ setDefaultRWConcern: 1, ...fields })
  const kept = async () =>
    (
      (await run({ find: 'settings', filter: { _id: 'ReadWriteConcernDefaults' } }, 'config'))['cursor'] as {
        firstBatch: Document[]
      }
    ).firstBatch[0]
  return { config, run, set, kept }
}

t.test('defaults are stored in config.settings and returned', async (t) => {
  const { set, run, kept } = await configOf()
  t.same(Object.keys(await run({ getDefaultRWConcern: 1 })), [
    'defaultReadConcern',
    'defaultWriteConcern',
    'defaultWriteConcernSource',
    'defaultReadConcernSource',
    'localUpdateWallClockTime',
    'ok',
  ])
  t.match(await set({ defaultWriteConcern: { w: 1, j: 1 } }), {
    defaultReadConcern: { level: 'local' },
    defaultWriteConcern: { w: 1, j: true, wtimeout: 0 },
    defaultWriteConcernSource: 'global',
    defaultReadConcernSource: 'implicit',
    ok: 1,
  })
  const reply = await set({ defaultReadConcern: { level: 'majority' } })
  t.same(Object.keys(reply), [
    'defaultReadConcern',
    'defaultWriteConcern',
    'updateOpTime',
    'updateWallClockTime',
    'defaultWriteConcernSource',
    'defaultReadConcernSource',
    'localUpdateWallClockTime',
    'ok',
  ])
  const settings = await kept()
  t.same(Object.keys(settings!), [
    '_id',
    'defaultReadConcern',
    'defaultWriteConcern',
    'updateOpTime',
    'updateWallClockTime',
  ])
  t.same(settings!['defaultWriteConcern'], { w: 1, j: true, wtimeout: 0 }, 'what is not named stays')
  t.match(await run({ getDefaultRWConcern: 1, inMemory: true }), {
    inMemory: true,
    defaultReadConcern: { level: 'majority' },
  })
  t.match(await set({ defaultReadConcern: {} }), {
    defaultReadConcern: { level: 'local' },
    defaultReadConcernSource: 'implicit',
  })
  t.notOk('defaultReadConcern' in (await kept())!, 'nothing takes the read concern back')
})

t.test('routers learn the defaults from their pings, and after a restart', async (t) => {
  const { config, set } = await configOf()
  const ping = async (of: ConfigUnderTest) => {
    const { concernDefaults } = await of.send('config.mongos-ping', {
      host: 'h:1',
      version: '7.0.31',
      createdMs: 1,
      upSeconds: 1,
    })
    return concernDefaults === null ? null : decode(concernDefaults)
  }
  t.equal(await ping(config), null)
  await set({ defaultReadConcern: { level: 'available' } })
  t.match(await ping(config), { defaultReadConcern: { level: 'available' } })
  t.match(await ping(config.restarted()), { defaultReadConcern: { level: 'available' } })
})

t.test('an invalid default is refused and changes nothing', async (t) => {
  const { set, kept } = await configOf()
  const notSuitable = (what: string, kind = 'read') => `${what} is not suitable for the default ${kind} concern`
  for (const [fields, code, errmsg] of [
    [{}, 2, 'At least one of the "defaultReadConcern" or "defaultWriteConcern" fields must be present'],
    [{ defaultReadConcern: { level: 'snapshot' } }, 2, notSuitable("level: 'snapshot'")],
    [{ defaultReadConcern: { level: 'linearizable' } }, 2, notSuitable("level: 'linearizable'")],
    [
      { defaultReadConcern: { level: 'local', provenance: 'x' } },
      2,
      "'provenance' must be unset in default read concern",
    ],
    [{ defaultReadConcern: { level: 'nonsense' } }, 9],
    [{ defaultReadConcern: 'local' }, 14],
    [
      { defaultWriteConcern: { w: 0 } },
      2,
      'Unacknowledged write concern is not suitable for the default write concern',
    ],
    [{ defaultWriteConcern: { w: 1, provenance: 'x' } }, 2, "'provenance' must be unset in default write concern"],
    [{ defaultWriteConcern: { w: 51 } }, 9],
    [{ defaultReadConcern: { level: 'local' }, nonsense: 1 }, 40415],
  ] as const) {
    t.match(await set(fields), { ok: 0, code, ...(errmsg === undefined ? {} : { errmsg }) }, JSON.stringify(fields))
  }
  t.equal(await kept(), undefined)
})

t.test('since 5.0 a default write concern cannot be unset', async (t) => {
  for (const version of ['5.0', '8.0'] as const) {
    const { set } = await configOf(version)
    t.match(await set({ defaultWriteConcern: {} }), { ok: 1 }, 'there was none')
    await set({ defaultWriteConcern: { w: 1 } })
    t.match(await set({ defaultWriteConcern: {} }), {
      code: 20,
      errmsg: 'The global default write concern cannot be unset once it is set.',
    })
    t.match(await set({ defaultWriteConcern: { w: 'majority' } }), { ok: 1, defaultWriteConcern: { w: 'majority' } })
  }
  const { set } = await configOf('4.4')
  await set({ defaultWriteConcern: { w: 1 } })
  t.same(Object.keys(await set({ defaultWriteConcern: {} })), [
    'updateOpTime',
    'updateWallClockTime',
    'localUpdateWallClockTime',
    'ok',
  ])
})

t.test('the commands exist since 4.4', async (t) => {
  for (const version of ['2.6', '4.0'] as const) {
    const { run, set } = await configOf(version)
    t.match(await run({ getDefaultRWConcern: 1 }), { code: 59 })
    t.match(await set({ defaultWriteConcern: { w: 1 } }), { code: 59 })
  }
})
