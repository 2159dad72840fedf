/** A client may close its connection while the router reads its users. */
import { Binary, decode, UUID, type Document } from '@shardlab/bson'
import t from 'tap'
import { FakeCluster } from './support/fake-cluster.js'

t.test('a command of a client that has closed its connection has no session of another user', async (t) => {
  const cluster = new FakeCluster({ hasAccessControl: true })
  const connectionId = 5
  const received: Document[] = []
  cluster.scripts.set('config', async ({ body }, name) => {
    if (name === 'count') {
      await cluster.mongos.receive('client.disconnected', { connectionId }, 'gateway')
      return { n: 0, ok: 1 }
    }
    received.push(decode(body))
    return { ok: 1 }
  })
  const lsid = { id: new UUID(), uid: new Binary(Buffer.alloc(32)) }
  t.match(await cluster.run({ createUser: 'root', pwd: 'x', roles: [], lsid, $db: 'admin' }, { connectionId }), {
    ok: 1,
  })
  t.match(received, [{ createUser: 'root' }])
  t.notOk('lsid' in received[0]!, 'the digest of another user')
})

t.test('a connection that is closed during its hello does not come back', async (t) => {
  const cluster = new FakeCluster()
  const connectionId = 5
  cluster.scripts.set('config', async () => {
    await cluster.mongos.receive('client.disconnected', { connectionId }, 'gateway')
    return { users: [], ok: 1 }
  })
  const payload = new Binary(Buffer.from('n,,n=root,r=abc'))
  const speculativeAuthenticate = { saslStart: 1, mechanism: 'SCRAM-SHA-256', payload, db: 'admin' }
  await cluster.run(
    { hello: 1, saslSupportedMechs: 'admin.root', speculativeAuthenticate, $db: 'admin' },
    { connectionId },
  )
  const { connections } = await cluster.run({ serverStatus: 1, $db: 'admin' })
  t.match(connections, { current: 1, totalCreated: 2 })
})
