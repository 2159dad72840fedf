/** Codes that were renamed, or got their names, between versions. */
import type { EmulatedVersion } from '@shardlab/sharding'
import { createSimulatedCluster } from '@shardlab/cluster'
import t from 'tap'
import { admin, ask, start } from './two-shard-cluster.js'

const names: Readonly<Record<Exclude<EmulatedVersion, '2.6'>, Readonly<Record<number, string>>>> = {
  '4.0': { 40415: 'Location40415', 100: 'CannotSatisfyWriteConcern', 10107: 'NotMaster', 13334: 'ShardKeyTooBig' },
  '4.4': {
    40415: 'Location40415',
    100: 'UnsatisfiableWriteConcern',
    10107: 'NotWritablePrimary',
  },
  '5.0': { 40415: 'Location40415', 100: 'UnsatisfiableWriteConcern', 10107: 'NotWritablePrimary' },
  '6.0.2': { 40415: 'Location40415', 100: 'UnsatisfiableWriteConcern', 10107: 'NotWritablePrimary' },
  '6.0': { 40415: 'Location40415', 100: 'UnsatisfiableWriteConcern', 10107: 'NotWritablePrimary' },
  '7.0': { 40415: 'IDLUnknownField', 100: 'UnsatisfiableWriteConcern', 10107: 'NotWritablePrimary' },
  '8.0': { 40415: 'IDLUnknownField', 100: 'UnsatisfiableWriteConcern', 10107: 'NotWritablePrimary' },
}

for (const [emulate, named] of Object.entries(names) as [keyof typeof names, Record<number, string>][]) {
  t.test(`error codes have the names of ${emulate}`, async (t) => {
    const cluster = await start(t, { emulate, members: 1 })
    const nameOf = async (code: number, reply: Promise<Record<string, unknown>>) => {
      const { code: actual, codeName } = await reply
      t.equal(actual, code)
      t.equal(codeName, named[code], String(code))
    }
    await nameOf(40415, ask(cluster, { delete: 'things', deletes: [{ q: {}, limit: 1, colour: 1 }] }))
    const { writeConcernError } = await ask(cluster, { create: 'other', writeConcern: { w: 5 } })
    await nameOf(100, Promise.resolve(writeConcernError as Record<string, unknown>))
    if (13334 in named) {
      const { writeErrors } = await ask(cluster, { insert: 'things', documents: [{ x: 'x'.repeat(600) }] })
      const [error] = writeErrors as Record<string, unknown>[]
      await nameOf(13334, Promise.resolve(error!))
    }
    await cluster.faults.apply('step down shard02')
    await nameOf(10107, ask(cluster, { insert: 'things', documents: [{ x: 9 }] }, 'shard02'))
    t.match(await admin(cluster, { hello: 1 }, 'shard02'), { isWritablePrimary: false })
  })
}

t.test('errors of 2.6 have no codeName', async (t) => {
  await using cluster = await createSimulatedCluster({ seed: 1, shards: 1, emulate: '2.6' })
  const reply = await ask(cluster, { noSuchCommand: 1 })
  t.match(reply, { ok: 0, code: Number })
  t.notOk('codeName' in reply)
})
