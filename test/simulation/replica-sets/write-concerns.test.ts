/** Write concerns by tags and modes, and the default concerns of a set without sharding. */
import type { Document } from '@shardlab/bson'
import t, { type Test } from 'tap'
import { SetUnderTest, type SetUnderTestOptions } from './simulated-set.js'

async function start(t: Test, options: Omit<SetUnderTestOptions, 'seed'>): Promise<SetUnderTest> {
  const set = await SetUnderTest.start({ seed: 1, ...options })
  t.teardown(() => set.stop())
  return set
}

const insert = (_id: number, writeConcern?: Document): Document => ({
  ...{ insert: 'rows', documents: [{ _id }], ...(writeConcern === undefined ? {} : { writeConcern }) },
})

const inTwoCentres = [{ tags: { dc: 'east' } }, { tags: { dc: 'east' } }, { tags: { dc: 'west', use: 'reports' } }]

t.test('a write waits for members with as many values of a tag', async (t) => {
  const settings = { getLastErrorModes: { everywhere: { dc: 2 }, nowhere: { dc: 3 } } }
  const set = await start(t, { config: inTwoCentres, settings })
  t.match(await set.command('rs-1', insert(1, { w: { dc: 2 } })), { ok: 1, writeConcernError: undefined })
  t.match(await set.command('rs-1', insert(2, { w: 'everywhere' })), { ok: 1, writeConcernError: undefined })
  await set.runtime.crash('rs-3')
  const late = { code: 64, errInfo: { wtimeout: true } }
  t.match(await set.command('rs-1', insert(3, { w: { dc: 2 }, wtimeout: 500 })), { n: 1, writeConcernError: late })
  t.match(await set.command('rs-1', insert(4, { w: 'everywhere', wtimeout: 500 })), { writeConcernError: late })
  t.match(await set.command('rs-1', insert(5, { w: { dc: 1 } })), { ok: 1, writeConcernError: undefined })
})

t.test('tags that no member has, and too many values, are refused after the write', async (t) => {
  for (const options of [{ config: inTwoCentres }, { members: 1, config: [{ tags: { dc: 'east' } }] }]) {
    const set = await start(t, options)
    t.match(await set.command('rs-1', insert(1, { w: { rack: 1 } })), {
      n: 1,
      writeConcernError: { code: 4, codeName: 'NoSuchKey', errmsg: 'No replica set tag key rack in config' },
    })
    t.match(await set.command('rs-1', insert(2, { w: { dc: 3 } })), { n: 1, writeConcernError: { code: 100 } })
    t.match(await set.command('rs-1', insert(3, { w: { dc: 1 } })), { n: 1, writeConcernError: undefined })
    t.match(await set.command('rs-1', insert(4, { w: 'unknown' })), { n: 1, writeConcernError: { code: 79 } })
  }
})

t.test('commands that name no concern have the defaults of the set', async (t) => {
  const set = await start(t, {})
  await set.admin('rs-1', { setDefaultRWConcern: 1, defaultWriteConcern: { w: 3, wtimeout: 500 } })
  t.match(await set.command('rs-1', insert(1)), { ok: 1, writeConcernError: undefined })
  await set.runtime.crash('rs-3')
  t.match(await set.command('rs-1', insert(2)), {
    n: 1,
    writeConcernError: { code: 64, errInfo: { writeConcern: { w: 3, provenance: 'customDefault' } } },
  })
  t.match(await set.command('rs-1', insert(3, { w: 2 })), { ok: 1, writeConcernError: undefined }, 'its own')
})
