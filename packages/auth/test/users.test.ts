import t from 'tap'
import { decode, encode } from '@shardlab/bson'
import {
  createRole,
  createUser,
  credentialsDocument,
  credentialsWanted,
  describeUsers,
  dropAllRolesFromDatabase,
  dropRole,
  grantPrivilegesToRole,
  grantRolesToRole,
  grantRolesToUser,
  parseRoleArguments,
  parseRolePrivilegeArguments,
  parseRoleRoleArguments,
  parseRolesInfo,
  parseUserArguments,
  parseUserRoleArguments,
  parseUsersInfo,
  readUser,
  revokePrivilegesFromRole,
  revokeRolesFromUser,
  RoleGraph,
  scramMechanisms,
  updateRole,
  updateUser,
  writeRole,
  writeUser,
  type Release,
  type RoleDocument,
  type RoleName,
  type UserDocument,
} from '../src/index.js'
import { failure } from './support/failure.js'
import { rulesOf } from './support/releases.js'

const shop = (role: string): RoleName => ({ role, db: 'shop' })
const userId = new Uint8Array(16).fill(7)
const offered = [...scramMechanisms.keys()]
const made = { iterationCount: 5000, salt: 'c2FsdA==', storedKey: 'a2V5', serverKey: 'a2V5' }

function graphOf(release: Release, ...roles: RoleDocument[]): RoleGraph {
  return new RoleGraph(roles, rulesOf(release))
}

function create(command: object, release: Release = '8.0', present: UserDocument | null = null, db = 'shop') {
  const args = parseUserArguments('createUser', encode(command as never), db, rulesOf(release))
  const credentials = credentialsDocument(credentialsWanted(args, offered).map((wanted) => [wanted, made] as const))
  return createUser(args, credentials, userId, present, graphOf(release))
}

function update(command: object, present: UserDocument | null, release: Release = '8.0'): UserDocument {
  const args = parseUserArguments('updateUser', encode(command as never), 'shop', rulesOf(release))
  const wanted = credentialsWanted(args, offered)
  const credentials = wanted.length === 0 ? null : credentialsDocument(wanted.map((each) => [each, made] as const))
  return updateUser(args, credentials, present, graphOf(release))
}

function makeRole(command: object, release: Release = '8.0', ...roles: RoleDocument[]): RoleDocument {
  return createRole(
    parseRoleArguments('createRole', encode(command as never), 'shop', rulesOf(release)),
    graphOf(release, ...roles),
  )
}

t.test('createUser makes the document of the server', (t) => {
  const user = create({
    createUser: 'ann',
    pwd: 'pencil',
    roles: ['read', { role: 'root', db: 'admin' }, 'read'],
    customData: { desk: 3 },
    authenticationRestrictions: [{ clientSource: ['127.0.0.1'] }],
  })
  const document = decode(writeUser(user))
  t.same(Object.keys(document), [
    '_id',
    'userId',
    'user',
    'db',
    'credentials',
    'authenticationRestrictions',
    'customData',
    'roles',
  ])
  t.equal(document['_id'], 'shop.ann')
  t.same(Object.keys(document['credentials']), ['SCRAM-SHA-1', 'SCRAM-SHA-256'])
  t.same(document['roles'], [shop('read'), { role: 'root', db: 'admin' }])
  t.same(decode(writeUser(readUser(writeUser(user)))), document)
  t.equal(create({ createUser: 'ann', pwd: 'x', roles: [] }, '2.6').userId, null)
  const external = create({ createUser: 'CN=ann', roles: [] }, '8.0', null, '$external')
  t.same(decode(external.credentials), { external: true })
  t.end()
})

t.test('createUser is refused as by the server', (t) => {
  const ann = { createUser: 'ann', pwd: 'x', roles: [] }
  const user = create(ann)
  t.same(
    failure(() => create(ann, '8.0', user)),
    [51003, 'User "ann@shop" already exists'],
  )
  t.same(
    failure(() => create(ann, '4.0', user)),
    [11000, 'User "ann@shop" already exists'],
  )
  t.same(
    failure(() => create(ann, '8.0', null, 'local')),
    [2, 'Cannot create users in the local database'],
  )
  t.same(
    failure(() => create({ createUser: 'ann', roles: [] })),
    [2, "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db"],
  )
  t.same(
    failure(() => create(ann, '8.0', null, '$external')),
    [2, "Cannot set the password for users defined on the '$external' database"],
  )
  t.same(
    failure(() => create({ ...ann, roles: ['nurse'] })),
    [31, 'Could not find role: nurse@shop'],
  )
  t.same(
    failure(() => create({ ...ann, roles: ['nurse'] }, '4.4')),
    [31, 'No role named nurse@shop'],
  )
  t.same(
    failure(() => create({ createUser: 'ann', pwd: 'x' })),
    [40414, "BSON field 'createUser.roles' is missing but a required field"],
  )
  t.same(
    failure(() => create({ createUser: 'ann', pwd: 'x' }, '4.4')),
    [2, '"createUser" command requires a "roles" array'],
  )
  t.same(
    failure(() => create({ ...ann, roles: 'read' })),
    [14, "BSON field 'createUser.roles' is the wrong type 'string', expected type 'array'"],
  )
  t.same(
    failure(() => create({ ...ann, roles: [1] })),
    [2, 'User and role names must be either strings or objects'],
  )
  t.same(
    failure(() => create({ ...ann, roles: [{ role: 'read' }] })),
    [4, 'Missing expected field "db"'],
  )
  t.same(
    failure(() => create({ ...ann, mechanisms: [] })),
    [2, 'mechanisms field must not be empty'],
  )
  t.same(
    failure(() => create({ ...ann, mechanisms: ['PLAIN'] })),
    [2, "Unknown auth mechanism 'PLAIN'"],
  )
  t.same(
    failure(() => create({ ...ann, digestPassword: false })),
    [2, 'Use of SCRAM-SHA-256 requires undigested passwords'],
  )
  t.same(
    failure(() => create({ ...ann, createUser: '' })),
    [2, "User document needs 'user' field to be non-empty"],
  )
  t.equal(failure(() => create({ ...ann, authenticationRestrictions: [{}] }))[0], 162)
  for (const [restriction, message] of [
    [
      { clientSource: '::1' },
      "BSON field 'address restriction.clientSource' is the wrong type 'string', expected type 'array'",
    ],
    [
      { serverAddress: ['::1', 5] },
      "BSON field 'address restriction.serverAddress.1' is the wrong type 'int', expected type 'string'",
    ],
    [{ clientSource: ['::1'], foo: 1 }, "BSON field 'address restriction.foo' is an unknown field."],
    [{ clientSource: ['10.0.0.0/40'] }, 'Invalid address range in clientSource'],
  ] as const)
    t.same(
      failure(() => create({ ...ann, authenticationRestrictions: [restriction] })),
      [2, message],
    )
  t.end()
})

t.test('updateUser changes the named fields only', (t) => {
  const user = create({ createUser: 'ann', pwd: 'x', roles: ['read'], customData: { a: 1 } })
  t.same(update({ updateUser: 'ann', roles: ['readWrite'] }, user).roles, [shop('readWrite')])
  t.same(decode(update({ updateUser: 'ann', customData: { b: 2 } }, user).customData!), { b: 2 })
  const one = update({ updateUser: 'ann', mechanisms: ['SCRAM-SHA-256'] }, user)
  t.same(Object.keys(decode(one.credentials)), ['SCRAM-SHA-256'])
  t.equal(one.customData, user.customData)
  const restricted = update({ updateUser: 'ann', authenticationRestrictions: [{ clientSource: ['::1'] }] }, user)
  t.not(restricted.authenticationRestrictions, null)
  t.equal(update({ updateUser: 'ann', authenticationRestrictions: [] }, restricted).authenticationRestrictions, null)
  t.same(
    failure(() => update({ updateUser: 'ann', mechanisms: ['SCRAM-SHA-1'] }, one)),
    [2, 'mechanisms field must be a subset of previously set mechanisms'],
  )
  t.same(
    failure(() => update({ updateUser: 'ann' }, user)),
    [2, 'Must specify at least one field to update in updateUser'],
  )
  t.same(
    failure(() => update({ updateUser: 'bob', pwd: 'x' }, null)),
    [11, 'User bob@shop not found'],
  )
  t.same(
    failure(() => update({ updateUser: 'bob', mechanisms: ['SCRAM-SHA-1'] }, null)),
    [11, 'Could not find user "bob" for db "shop"'],
  )
  t.end()
})

t.test('roles are granted to users and revoked from them', (t) => {
  const user = create({ createUser: 'ann', pwd: 'x', roles: ['read'] })
  const roles = (command: 'grantRolesToUser' | 'revokeRolesFromUser', list: unknown[]) =>
    parseUserRoleArguments(command, encode({ [command]: 'ann', roles: list }), 'shop', rulesOf('8.0'))
  const granted = grantRolesToUser(roles('grantRolesToUser', ['read', 'dbAdmin']), user, graphOf('8.0'))
  t.same(granted.roles, [shop('read'), shop('dbAdmin')])
  const revoke = roles('revokeRolesFromUser', ['read', 'readWrite'])
  t.same(revokeRolesFromUser(revoke, granted, graphOf('8.0')).roles, [shop('dbAdmin')])
  t.same(
    failure(() => roles('grantRolesToUser', [])),
    [2, 'grantRolesToUser command requires a non-empty "roles" array'],
  )
  t.same(
    failure(() => grantRolesToUser(revoke, null, graphOf('8.0'))),
    [11, 'Could not find user "ann" for db "shop"'],
  )
  t.same(
    failure(() => grantRolesToUser(roles('grantRolesToUser', ['x']), user, graphOf('8.0'))),
    [31, 'Could not find role: x@shop'],
  )
  t.end()
})

t.test('roles are created, changed and dropped', (t) => {
  const orders = { resource: { db: 'shop', collection: 'orders' }, actions: ['find'] }
  const clerk = makeRole({ createRole: 'clerk', privileges: [orders], roles: ['read'] })
  const rules = rulesOf('8.0')
  t.same(decode(writeRole(clerk, rules)), {
    _id: 'shop.clerk',
    role: 'clerk',
    db: 'shop',
    privileges: [orders],
    roles: [shop('read')],
  })
  const bad = (command: object, release: Release = '8.0') =>
    failure(() => makeRole({ createRole: 'x', privileges: [], roles: [], ...command }, release, clerk))
  t.same(bad({ createRole: '' }), [2, 'Role name must be non-empty'])
  t.same(bad({ createRole: 'read' }), [2, 'Cannot create roles with the same name as a built-in role'])
  t.same(bad({ createRole: 'clerk' }), [51002, 'Role "clerk@shop" already exists'])
  t.same(bad({ createRole: 'clerk' }, '4.0'), [11000, 'Role "clerk@shop" already exists'])
  t.same(bad({ privileges: [{ resource: { cluster: true }, actions: ['find'] }] }), [
    49,
    "Roles on the 'shop' database cannot be granted privileges that target other databases or the cluster",
  ])

  const graph = graphOf('8.0', clerk)
  const grant = (actions: string[]) =>
    parseRolePrivilegeArguments(
      'grantPrivilegesToRole',
      encode({ grantPrivilegesToRole: 'clerk', privileges: [{ ...orders, actions }] }),
      'shop',
      rules,
    )
  const granted = grantPrivilegesToRole(grant(['insert']), graph)
  t.same(decode(writeRole(granted, rules))['privileges'][0].actions, ['find', 'insert'])
  t.same(revokePrivilegesFromRole(grant(['find']), graph).privileges, [])
  const onRead = { ...grant(['find']), name: shop('read') }
  t.same(
    failure(() => grantPrivilegesToRole(onRead, graph)),
    [2, 'read@shop is a built-in role and cannot be modified'],
  )
  t.same(
    failure(() => grantPrivilegesToRole(onRead, graphOf('4.4'))),
    [49, 'read@shop is a built-in role and cannot be modified.'],
  )
  const args = (command: object) => parseRoleArguments('updateRole', encode(command as never), 'shop', rules)
  t.same(
    failure(() => updateRole(args({ updateRole: 'clerk' }), graph)),
    [2, 'Must specify at least one field to update in updateRole'],
  )
  t.same(
    failure(() => updateRole(args({ updateRole: 'x', roles: [] }), graph)),
    [31, 'Could not find role: x@shop'],
  )
  t.same(updateRole(args({ updateRole: 'clerk', roles: [] }), graph).roles, [])
  const toRole = parseRoleRoleArguments(
    'grantRolesToRole',
    encode({ grantRolesToRole: 'clerk', roles: ['dbAdmin'] }),
    'shop',
    rules,
  )
  t.same(grantRolesToRole(toRole, graph).roles, [shop('read'), shop('dbAdmin')])

  const boss = makeRole({ createRole: 'boss', privileges: [], roles: ['clerk', 'read'] }, '8.0', clerk)
  const ann: UserDocument = { ...create({ createUser: 'ann', pwd: 'x', roles: [] }), roles: [shop('clerk')] }
  const both = graphOf('8.0', clerk, boss)
  const dropped = dropRole(shop('clerk'), [ann, { ...ann, roles: [] }], both)
  t.same(
    dropped.users.map(({ roles }) => roles),
    [[]],
  )
  t.same(
    dropped.roles.map(({ name, roles }) => [name, roles]),
    [[shop('boss'), [shop('read')]]],
  )
  t.same(
    failure(() => dropRole(shop('x'), [], both)),
    [31, 'Could not find role: x@shop'],
  )
  t.equal(dropAllRolesFromDatabase('shop', [ann], both).removed.length, 2)
  t.equal(dropAllRolesFromDatabase('other', [ann], both).users.length, 0)
  t.end()
})

t.test('usersInfo shows what it is asked for', (t) => {
  const user = create({ createUser: 'ann', pwd: 'x', roles: ['read'], customData: { a: 1 } })
  const show = (command: object, release: Release = '8.0') => {
    const args = parseUsersInfo(encode({ usersInfo: 'ann', ...command }), 'shop', rulesOf(release))
    return Object.keys(decode(describeUsers([user], args, graphOf(release))[0]!))
  }
  t.same(show({}), ['_id', 'userId', 'user', 'db', 'customData', 'roles', 'mechanisms'])
  t.same(show({ showCustomData: false }), ['_id', 'userId', 'user', 'db', 'roles', 'mechanisms'])
  t.ok(show({ showCredentials: true }).includes('credentials'))
  t.same(show({ showPrivileges: true }), [
    '_id',
    'userId',
    'user',
    'db',
    'mechanisms',
    'customData',
    'roles',
    'inheritedRoles',
    'inheritedPrivileges',
    'inheritedAuthenticationRestrictions',
  ])
  t.same(
    failure(() => show({ usersInfo: 1, showPrivileges: true })),
    [20, 'Privilege or restriction details require exact-match usersInfo queries'],
  )
  const parse = (usersInfo: unknown) => parseUsersInfo(encode({ usersInfo }), 'shop', rulesOf('8.0')).users
  t.equal(parse(1), 'shop')
  t.equal(parse({ forAllDBs: true }), null)
  t.same(parse(['ann', { user: 'bob', db: 'other' }]), [
    { user: 'ann', db: 'shop' },
    { user: 'bob', db: 'other' },
  ])
  t.equal(
    parseRolesInfo(encode({ rolesInfo: 'a', showPrivileges: 'asUserFragment' }), 'shop', rulesOf('8.0')).asUserFragment,
    true,
  )
  t.equal(
    failure(() =>
      parseRolesInfo(encode({ rolesInfo: 1, showPrivileges: 'asUserFragment' }), 'shop', rulesOf('8.0')),
    )[0],
    20,
  )
  t.end()
})
