import { decode, encode, UUID } from '@shardlab/bson'
import t from 'tap'
import { NodeUnderTest } from './support/harness.js'

const admin = { db: 'admin' }

t.test('a process that had a user or a role does not forget it before it restarts', async (t) => {
  const node = new NodeUnderTest()
  t.equal(node.node.users.hasAny(), false)
  await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
  await node.ok({ dropUser: 'root' }, admin)
  t.equal(node.node.users.hasAny(), true)
  await node.stepDown()
  await node.stepUp()
  t.equal(node.node.users.hasAny(), true, 'after an election')
  const restarted = node.restarted()
  t.equal(restarted.node.users.hasAny(), false)
  await restarted.ok({ createRole: 'reader', privileges: [], roles: [] }, admin)
  await restarted.ok({ dropRole: 'reader' }, admin)
  t.equal(restarted.node.users.hasAny(), true)
})

t.test('D915 no collection takes the place of users, roles, views or functions', async (t) => {
  for (const version of ['2.6', '4.0', '8.0'] as const) {
    const node = new NodeUnderTest({ version })
    await node.ok({ insert: 'rows', documents: [{ _id: 1 }] }, admin)
    for (const name of ['system.users', 'system.roles', 'system.views', 'system.js'])
      t.match(
        await node.run({ renameCollection: 'admin.rows', to: `admin.${name}`, dropTarget: true }, admin),
        { code: 20, errmsg: `renaming ${name} collection or renaming to ${name} is not allowed` },
        version,
      )
    await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
    t.match(await node.run({ renameCollection: 'admin.system.users', to: 'admin.other' }, admin), { code: 20 }, version)
    t.match(await node.run({ renameCollection: 'admin.system.users', to: 'shop.other' }, admin), { code: 20 }, version)
  }
})

t.test('applyOps gives no collection the name of the users', async (t) => {
  const node = new NodeUnderTest({ version: '6.0' })
  await node.ok({ create: 'rows' }, admin)
  const ui = node.node.collection('admin.rows')!.uuid
  const create = { op: 'c', ns: 'admin.$cmd', ui: new UUID(Buffer.from(ui)), o: { create: 'system.users' } }
  t.match(await node.run({ applyOps: [create] }, admin), { ok: 0, code: 20 })
  await node.ok({ createUser: 'root', pwd: 'secret', roles: ['root'] }, admin)
  t.match(await node.run({ applyOps: [create] }, admin), { ok: 0, code: 20 })
})

t.test('D916 a field twice is refused, also if one of them is null', async (t) => {
  const node = new NodeUnderTest()
  const command = encode({ create: 'view', viewOn: 'secrets', viewOx: null, pipeline: [] })
  // The two names differ in their last letter only.
  const body = Buffer.from(command)
  body[body.indexOf('viewOx') + 5] = 'n'.charCodeAt(0)
  const twice = async (bytes: Uint8Array) =>
    decode((await node.node.nodeCommand({ ...node.command({ ping: 1 }), body: bytes })).body)
  t.match(await twice(body), { code: 40413, errmsg: "BSON field 'create.viewOn' is a duplicate field" })
  const swapped = Buffer.from(encode({ create: 'view', viewOx: null, viewOn: 'secrets', pipeline: [] }))
  swapped[swapped.indexOf('viewOx') + 5] = 'n'.charCodeAt(0)
  t.match(await twice(swapped), { code: 40413 })
})
