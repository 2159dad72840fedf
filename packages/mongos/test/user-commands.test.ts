/** Commands that change users, as a router sends them to the config server. */
import { decode, type Document } from '@shardlab/bson'
import t from 'tap'
import { FakeCluster } from './support/fake-cluster.js'

t.test('changes of users wait for a majority, and accept no other write concern', async (t) => {
  for (const version of ['2.6', '4.0', '7.0'] as const) {
    const cluster = new FakeCluster({ emulate: version })
    const received: Document[] = []
    cluster.scripts.set('config', async ({ body }) => {
      received.push(decode(body))
      return { ok: 1 }
    })
    const drop = (writeConcern?: Document) =>
      cluster.run({ dropUser: 'ann', ...(writeConcern && { writeConcern }), $db: 'admin' })
    for (const writeConcern of [undefined, { w: 1 }, { w: 'majority', wtimeout: 5 }, { j: true }])
      t.match(await drop(writeConcern), { ok: 1 })
    t.same(
      received.map(({ writeConcern }) => writeConcern),
      [{ w: 'majority' }, { w: 'majority' }, { w: 'majority', wtimeout: 5 }, { w: 'majority' }],
    )
    const got =
      "Invalid replication write concern. User management write commands may only use w:1 or w:'majority', got"
    for (const [writeConcern, text] of [
      [{ w: 2 }, '{ w: 2, wtimeout: 0 }'],
      [{ w: 0 }, '{ w: 0, wtimeout: 0 }'],
      [{ w: 'near', j: true, wtimeout: 7 }, '{ w: "near", j: true, wtimeout: 7 }'],
    ] as const)
      t.match(await drop(writeConcern), { ok: 0, code: 72, errmsg: `${got}: ${text}` }, text)
    t.equal(received.length, 4, 'no user was changed')
  }
})
