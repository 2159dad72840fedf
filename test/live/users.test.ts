/** Users, roles and logins as the Node driver sees them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { Deployment, failure, statusOf } from './support/deployment.js'

t.test('without enableLocalhostAuthBypass no client is excepted', async (t) => {
  for (const [topology, value] of [
    ['standalone', 'false'],
    ['sharded', false],
  ] as const) {
    const options = { topology, setParameter: { enableLocalhostAuthBypass: value } }
    const deployment = await Deployment.start(t, topology === 'sharded' ? { ...options, shards: 1 } : options)
    const { cluster } = deployment
    for (const uri of [cluster.uri, ...cluster.shards.map((shard) => shard.uri)]) {
      const withoutUser = await deployment.connect(null, uri)
      t.match(await failure(withoutUser.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })), {
        code: 13,
        message: 'Command createUser requires authentication',
      })
    }
  }
})

t.test('a cluster that starts again without enableLocalhostAuthBypass has the users of its directory', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shardlab-users-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const stored = { topology: 'standalone', dbPath: join(folder, 'data') } as const
  const first = await Deployment.start(t, stored)
  await (await first.createRoot()).close()
  await first.cluster.stop()
  const again = await Deployment.start(t, { ...stored, setParameter: { enableLocalhostAuthBypass: false } })
  const root = await again.connect({ user: 'root', password: 'secret' })
  t.match(await root.db('admin').command({ getParameter: 1, enableLocalhostAuthBypass: 1 }), {
    enableLocalhostAuthBypass: false,
  })
  await root.close()
  await again.cluster.stop()
})

for (const topology of ['standalone', 'replica-set', 'sharded'] as const) {
  t.test(`${topology}: the localhost exception ends with the first user`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const withoutUser = await deployment.connect()
    t.match(await failure(withoutUser.db('shop').collection('rows').findOne({})), {
      code: 13,
      message: /^not authorized on shop to execute command \{ find: "rows"/,
    })
    t.equal((await statusOf(withoutUser))['authInfo'].authenticatedUsers.length, 0)
    await withoutUser.db('admin').command({ createUser: 'root', pwd: 'secret', roles: ['root'] })
    t.match(await failure(withoutUser.db('admin').command({ createUser: 'other', pwd: 'x', roles: [] })), {
      code: 13,
      message: 'Command createUser requires authentication',
    })
    const needsUser = (name: string) => ({ code: 13, message: `Command ${name} requires authentication` })
    t.match(await failure(withoutUser.db('shop').collection('rows').insertOne({})), needsUser('insert'))
    for (const [name, malformed] of [
      ['find', { find: 'rows', unknown: 1 }],
      ['find', { find: 1 }],
      ['usersInfo', { usersInfo: { unknown: 1 } }],
      ['explain', { explain: { find: 1 } }],
    ] as const)
      t.match(await failure(withoutUser.db('shop').command(malformed)), needsUser(name), 'before it is parsed')
    if (topology !== 'sharded')
      t.match(await failure(withoutUser.db('admin').command({ replSetGetStatus: 1 })), needsUser('replSetGetStatus'))
    await withoutUser.db('admin').command({ ping: 1 })
    const root = await deployment.connect({ user: 'root', password: 'secret' })
    await root.db('shop').collection<{ _id: number }>('rows').insertOne({ _id: 1 })
    t.equal(await root.db('shop').collection('rows').countDocuments(), 1)
    t.match((await statusOf(root))['authInfo'], {
      authenticatedUsers: [{ user: 'root', db: 'admin' }],
      authenticatedUserRoles: [{ role: 'root', db: 'admin' }],
    })
  })

  t.test(`${topology}: SCRAM-SHA-256, SCRAM-SHA-1, and wrong passwords`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    const shop = root.db('shop')
    await shop.command({ createUser: 'both', pwd: 'pass', roles: ['readWrite'] })
    await shop.command({ createUser: 'old', pwd: 'pass', roles: ['readWrite'], mechanisms: ['SCRAM-SHA-1'] })
    await shop.command({ createUser: 'new', pwd: 'pass', roles: ['readWrite'], mechanisms: ['SCRAM-SHA-256'] })
    for (const [user, ...mechanisms] of [
      ['both', undefined, 'SCRAM-SHA-1', 'SCRAM-SHA-256'],
      ['old', undefined, 'SCRAM-SHA-1'],
      ['new', undefined, 'SCRAM-SHA-256'],
    ] as const)
      for (const authMechanism of mechanisms) {
        const login = { user, password: 'pass', authSource: 'shop' }
        const client = await deployment.connect(authMechanism === undefined ? login : { ...login, authMechanism })
        await client.db('shop').collection('rows').insertOne({ user })
        t.match((await statusOf(client))['authInfo'].authenticatedUsers, [{ user, db: 'shop' }])
      }
    const failed = { code: 18, message: 'Authentication failed.' }
    for (const login of [
      { user: 'both', password: 'wrong', authSource: 'shop' },
      { user: 'both', password: 'pass', authSource: 'other' },
      { user: 'unknown', password: 'pass', authSource: 'shop' },
      { user: 'old', password: 'pass', authSource: 'shop', authMechanism: 'SCRAM-SHA-256' as const },
      { user: 'new', password: 'pass', authSource: 'shop', authMechanism: 'SCRAM-SHA-1' as const },
    ])
      t.match(await failure(deployment.connect(login)), failed)
  })

  t.test(`${topology}: a user may do what its roles allow, and a change of them takes effect at once`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    await root.db('shop').collection('orders').insertOne({})
    await root.db('admin').command({ createUser: 'ann', pwd: 'pass', roles: [{ role: 'read', db: 'shop' }] })
    const ann = await deployment.connect({ user: 'ann', password: 'pass' })
    const orders = ann.db('shop').collection('orders')
    t.equal(await orders.countDocuments(), 1)
    t.match(await failure(orders.insertOne({})), { code: 13, message: /^not authorized on shop to execute command/ })
    t.match(await failure(ann.db('other').collection('rows').findOne({})), { code: 13 })
    await root.db('admin').command({ grantRolesToUser: 'ann', roles: [{ role: 'readWrite', db: 'shop' }] })
    await orders.insertOne({})
    await root.db('admin').command({
      createRole: 'lister',
      privileges: [{ resource: { db: 'other', collection: 'rows' }, actions: ['find'] }],
      roles: [],
    })
    await root.db('admin').command({ updateUser: 'ann', roles: ['lister'] })
    t.match(await failure(orders.findOne({})), { code: 13 })
    t.equal(await ann.db('other').collection('rows').findOne({}), null)
    await root.db('admin').command({ dropUser: 'ann' })
    t.match(await failure(ann.db('other').collection('rows').findOne({})), {
      code: 13,
      message: 'Command find requires authentication',
    })
  })

  t.test(`${topology}: who may see whom`, async (t) => {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    for (const createUser of ['ann', 'bob']) await root.db('shop').command({ createUser, pwd: 'pass', roles: ['read'] })
    const ann = await deployment.connect({ user: 'ann', password: 'pass', authSource: 'shop' })
    const shop = ann.db('shop')
    t.match(await root.db('shop').command({ usersInfo: ['ann', 'bob'] }), { users: [{ user: 'ann' }, { user: 'bob' }] })
    t.match(await shop.command({ usersInfo: 'ann', showPrivileges: true }), {
      users: [{ _id: 'shop.ann', inheritedRoles: [{ role: 'read', db: 'shop' }] }],
    })
    const denied = { code: 13, message: /^not authorized on shop to execute command/ }
    t.match(await failure(shop.command({ usersInfo: 'bob' })), denied)
    t.match(await failure(shop.command({ usersInfo: 1 })), denied)
    t.match(await shop.command({ rolesInfo: 'read' }), { roles: [{ role: 'read', isBuiltin: true }] })
    t.match(await failure(shop.command({ rolesInfo: 'readWrite' })), denied)
    await root
      .db('admin')
      .command(topology === 'sharded' ? { profile: 0, slowms: 0 } : { setParameter: 1, logLevel: 1 })
    const create = { createUser: 'eve', pwd: 'hidden', roles: [] }
    const texts: string[] = []
    for (const command of [create, { ...create, pwd: ['hidden'] }, { explain: create }])
      for (const db of [shop, root.db('shop')]) {
        await db.command(command).catch(({ message }: Error) => texts.push(message))
        texts.push(JSON.stringify(await root.db('admin').command({ currentOp: 1, $all: true })))
      }
    texts.push(...((await root.db('admin').command({ getLog: 'global' }))['log'] as string[]))
    t.ok(texts.some((text) => text.includes('createUser')))
    t.same(
      texts.filter((text) => text.includes('hidden')),
      [],
      'passwords are in no error and in no log',
    )
  })
}

t.test('a user that may not log in from its address any more is logged out', async (t) => {
  for (const topology of ['standalone', 'sharded'] as const) {
    const deployment = await Deployment.start(t, { topology })
    const root = await deployment.createRoot()
    const read = { role: 'read', db: 'shop' }
    const elsewhere = [{ clientSource: ['10.0.0.0/8'] }]
    for (const restrict of [
      { updateUser: 'ann', authenticationRestrictions: elsewhere },
      { updateRole: 'local', authenticationRestrictions: elsewhere },
    ]) {
      await root.db('admin').command({ createRole: 'local', privileges: [], roles: [] })
      const ann = await deployment.createUser(root, 'ann', [read, 'local'])
      t.equal(await ann.db('shop').collection('rows').findOne({}), null)
      await root.db('admin').command(restrict)
      t.match(await failure(ann.db('shop').collection('rows').findOne({})), {
        code: 13,
        message: 'Command find requires authentication',
      })
      t.same((await statusOf(ann))['authInfo'].authenticatedUsers, [])
      t.match(await failure(deployment.connect({ user: 'ann', password: 'pass' })), { code: 18 })
      await root.db('admin').command({ dropUser: 'ann' })
      await root.db('admin').command({ dropRole: 'local' })
    }
  }
})
