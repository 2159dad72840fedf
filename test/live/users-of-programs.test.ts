/** The program `shardlab` on clusters with access control. */
import { join } from 'node:path'
import { MongoClient } from 'mongodb'
import t from 'tap'
import { ShardedCluster } from 'shardlab'
import { findRoot } from '../architecture/model/repository.js'
import { run } from '../support/up.js'
import { pem, required } from './tls/certificates.js'

const program = join(findRoot(), 'packages/shardlab/bin/shardlab.js')
const shardlab = (...args: string[]) => run(process.execPath, [program, ...args])
const needsUser = /the cluster has access control: use a URI with a user/

/** SASLprep makes an `a` of the first character. */
const password = 'ªé@:%'
const written = encodeURIComponent(password)

for (const [emulate, topology] of [
  ['2.6', 'sharded'],
  ['7.0', 'sharded'],
  ['7.0', 'replica-set'],
] as const)
  t.test(`${emulate}, ${topology}: the user of a URI logs in`, async (t) => {
    const shape = topology === 'sharded' ? { shards: 1 } : { members: 1 }
    const cluster = await ShardedCluster.start({ ...{ runtime: 'inline', auth: true, emulate, topology }, ...shape })
    t.teardown(() => cluster.stop())
    const client = await MongoClient.connect(cluster.uri)
    t.teardown(() => client.close())
    await client.db('admin').command({ createUser: 'root', pwd: password, roles: ['root'] })
    const root = cluster.uri.replace('//', `//root:${written}@`)
    const admin = await MongoClient.connect(root)
    t.teardown(() => admin.close())
    await admin.db('shop').command({ createUser: 'ann', pwd: 'secret', roles: ['read'] })

    t.match(await shardlab('fault', '--uri', root, '--list'), { code: 0 })
    const wrong = cluster.uri.replace('//', '//root:wrong@')
    t.match(await shardlab('fault', '--uri', wrong, '--list'), {
      ...{ code: 2, stderr: /the user root of admin cannot log in: Authentication failed/ },
    })
    if (emulate !== '7.0' || topology !== 'sharded') return
    t.match(await shardlab('fault', '--uri', cluster.uri, '--list'), { code: 2, stderr: needsUser })
    t.match(await shardlab('fault', '--uri', root, 'slow disk of config by 1ms'), { code: 0 })
    t.match(await shardlab('events', '--uri', root, '--json', '--snapshot'), { code: 0, stdout: /"type":"ready"/ })
    const ann = cluster.uri.replace('//', '//ann:secret@').replace(/\/$/, '/shop')
    t.match(await shardlab('fault', '--uri', ann, '--list'), { code: 2, stderr: /not authorized on admin/ })
  })

t.test('the certificate of a URI logs in', async (t) => {
  const cluster = await ShardedCluster.start({
    ...{ runtime: 'inline', topology: 'standalone', auth: true, tls: required },
  })
  t.teardown(() => cluster.stop())
  const files = `tls=true&tlsCAFile=${encodeURIComponent(pem('ca'))}&tlsCertificateKeyFile=${encodeURIComponent(pem('client'))}`
  const uri = cluster.uri.replace(/\?.*$|$/, `?${files}`)
  const client = await MongoClient.connect(uri)
  t.teardown(() => client.close())
  const user = { createUser: 'CN=client,OU=Clients,O=Shardlab', roles: [{ role: 'root', db: 'admin' }] }
  await client.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
  const root = await MongoClient.connect(uri.replace('//', '//root:secret@'))
  t.teardown(() => root.close())
  const external = `${uri}&authMechanism=MONGODB-X509`
  t.match(await shardlab('fault', '--uri', external, '--list'), { code: 2, stderr: /the certificate cannot log in: / })
  await root.db('$external').command(user)
  t.match(await shardlab('fault', '--uri', external, '--list'), { code: 0 })
})
