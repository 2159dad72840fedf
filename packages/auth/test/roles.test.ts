import t from 'tap'
import { CommandError, decode, toRawValue } from '@shardlab/bson'
import {
  builtInRolesOf,
  builtInRoleTable,
  describeAsUser,
  describeRoles,
  describeRolesOf,
  exactResource,
  databaseResource,
  isBuiltInRole,
  parsePrivileges,
  patternKey,
  PrivilegeSet,
  privilegesOfBuiltInRole,
  readRole,
  RoleGraph,
  writeRole,
  type Release,
  type RoleDocument,
  type RoleName,
} from '../src/index.js'
import { releases, rulesOf } from './support/releases.js'

const own = [{ resource: { db: 'shop', collection: 'orders' }, actions: ['find'] }]

function roleOf(role: string, roles: readonly RoleName[], privileges: unknown = [], db = 'shop'): RoleDocument {
  return {
    name: { role, db },
    roles,
    privileges: parsePrivileges(toRawValue(privileges), rulesOf('8.0')),
    authenticationRestrictions: null,
  }
}

const shop = (role: string): RoleName => ({ role, db: 'shop' })
const all = { showPrivileges: true, showAuthenticationRestrictions: false }
const brief = { showPrivileges: false, showAuthenticationRestrictions: false }

function holds(role: RoleName, release: Release, resource: Parameters<PrivilegeSet['allows']>[0], action: string) {
  const rules = rulesOf(release)
  return new PrivilegeSet(privilegesOfBuiltInRole(role, rules), rules).allows(resource, action)
}

t.test('built-in roles exist since the release that introduced them, on their databases', (t) => {
  const names = (db: string, release: Release): string[] => builtInRolesOf(db, rulesOf(release)).map(({ role }) => role)
  t.same(names('shop', '2.6'), ['dbAdmin', 'dbOwner', 'read', 'readWrite', 'userAdmin'])
  t.same(names('shop', '8.0'), ['dbAdmin', 'dbOwner', 'enableSharding', 'read', 'readWrite', 'userAdmin'])
  t.same(names('$external', '8.0'), [])
  t.equal(names('admin', '2.6').length, 17)
  t.ok(names('admin', '6.0.2').includes('directShardOperations'))
  t.notOk(names('admin', '5.0').includes('directShardOperations'))
  t.notOk(isBuiltInRole({ role: 'root', db: 'shop' }, rulesOf('8.0')))
  t.end()
})

t.test('each action of the table of roles is in the table of actions in some release', (t) => {
  for (const { name, grants } of builtInRoleTable)
    for (const action of grants.flatMap((grant) => grant.actions))
      t.ok(
        releases.some((release) => rulesOf(release).isAction(action)),
        `${name}: ${action}`,
      )
  t.end()
})

t.test('privileges of built-in roles change with the release', (t) => {
  const root = { role: 'root', db: 'admin' }
  const orders = exactResource('shop', 'orders')
  t.notOk(holds(shop('read'), '2.6', orders, 'changeStream'))
  t.ok(holds(shop('read'), '4.0', orders, 'changeStream'))
  t.ok(holds(shop('readWrite'), '5.0', orders, 'emptycapped'))
  t.notOk(holds(shop('readWrite'), '6.0.2', orders, 'emptycapped'))
  t.ok(holds({ role: 'readAnyDatabase', db: 'admin' }, '2.6', exactResource('config', 'chunks'), 'find'))
  t.notOk(holds({ role: 'readAnyDatabase', db: 'admin' }, '4.0', exactResource('config', 'chunks'), 'find'))
  t.notOk(holds({ role: 'userAdminAnyDatabase', db: 'admin' }, '8.0', orders, 'find'))
  t.ok(holds({ role: 'userAdminAnyDatabase', db: 'admin' }, '8.0', databaseResource('local'), 'viewUser'))
  t.notOk(holds(root, '2.6', exactResource('admin', 'system.users'), 'remove'))
  t.ok(holds(root, '4.0', exactResource('admin', 'system.users'), 'remove'), 'by restore')
  t.notOk(holds(root, '8.0', exactResource('admin', 'system.keys'), 'find'))
  for (const release of releases) {
    t.ok(holds({ role: '__system', db: 'admin' }, release, exactResource('admin', 'system.keys'), 'internal'))
    t.notOk(holds(root, release, { kind: 'cluster' }, 'internal'), release)
    t.ok(holds(shop('dbOwner'), release, databaseResource('shop'), 'createUser'))
    t.notOk(holds(shop('dbOwner'), release, databaseResource('other'), 'createUser'))
  }
  t.end()
})

t.test('actions are in the order of the manual', (t) => {
  const graph = new RoleGraph([], rulesOf('8.0'))
  const [readWrite] = describeRoles([shop('readWrite')], all, graph).map((each) => decode(each))
  t.same(
    readWrite!['privileges'].map(({ resource }: { resource: unknown }) => resource),
    [
      { db: 'shop', collection: '' },
      { db: 'shop', collection: 'system.js' },
    ],
  )
  t.equal(
    readWrite!['privileges'][0].actions.join(' '),
    'changeStream cleanupStructuredEncryptionData collStats compactStructuredEncryptionData convertToCapped ' +
      'createCollection createIndex createSearchIndexes dbHash dbStats dropCollection dropIndex dropSearchIndex find ' +
      'insert killCursors listCollections listIndexes listSearchIndexes updateSearchIndex planCacheRead remove ' +
      'renameCollectionSameDB update',
  )
  t.end()
})

t.test('the privileges of a built-in role name each resource once', (t) => {
  for (const release of releases)
    for (const role of builtInRolesOf('admin', rulesOf(release))) {
      const keys = privilegesOfBuiltInRole(role, rulesOf(release)).map(({ resource }) => patternKey(resource))
      t.equal(new Set(keys).size, keys.length, `${release} ${role.role}`)
    }
  t.end()
})

t.test('a role document is read as it was written', (t) => {
  const rules = rulesOf('8.0')
  const role = {
    ...roleOf('clerk', [shop('read')], own),
    authenticationRestrictions: toRawValue([{ clientSource: ['10.0.0.0/8'] }]),
  }
  const document = writeRole(role, rules)
  t.same(decode(document), {
    _id: 'shop.clerk',
    role: 'clerk',
    db: 'shop',
    privileges: own,
    roles: [{ role: 'read', db: 'shop' }],
    authenticationRestrictions: [{ clientSource: ['10.0.0.0/8'] }],
  })
  t.same(decode(writeRole(readRole(document, rules), rules)), decode(document))
  t.end()
})

t.test('roles that would inherit from themselves are refused', (t) => {
  const roles = [roleOf('a', [shop('b')]), roleOf('b', [shop('c')]), roleOf('c', [])]
  const check = (release: Release, to: RoleName, added: RoleName[]): [number, string] | null => {
    try {
      new RoleGraph(roles, rulesOf(release)).checkGrant(to, added)
      return null
    } catch (error) {
      return [(error as CommandError).code, (error as CommandError).message]
    }
  }
  t.same(check('4.4', shop('c'), [shop('a')]), [
    49,
    'Granting a@shop to c@shop would introduce a cycle in the role graph.',
  ])
  t.same(check('8.0', shop('c'), [shop('a')]), [
    49,
    'Granting roles to c@shop would introduce a cycle in the role graph',
  ])
  t.same(check('8.0', shop('c'), [shop('c')]), [49, 'Cannot grant role c@shop to itself.'])
  t.same(check('8.0', shop('c'), [{ role: 'read', db: 'other' }]), [
    49,
    "Roles on the 'shop' database cannot be granted roles from other databases",
  ])
  t.same(check('4.0', shop('c'), [shop('x')]), [31, 'Cannot grant nonexistent role x@shop'])
  t.same(check('8.0', shop('c'), [shop('x'), shop('y'), shop('read')]), [
    31,
    "Cannot grant roles to 'c@shop': Could not find roles: x@shop, y@shop",
  ])
  t.equal(check('8.0', shop('a'), [shop('c'), shop('readWrite')]), null)
  t.equal(check('8.0', { role: 'd', db: 'admin' }, [shop('a')]), null, 'roles of admin may have any')
  t.end()
})

t.test('rolesInfo describes a role with what it inherits', (t) => {
  const graph = new RoleGraph([roleOf('a', [shop('b')], own), roleOf('b', [shop('read')])], rulesOf('8.0'))
  t.same(
    describeRoles([shop('a'), shop('unknown')], brief, graph).map((each) => decode(each)),
    [
      {
        _id: 'shop.a',
        role: 'a',
        db: 'shop',
        roles: [shop('b')],
        inheritedRoles: [shop('b'), shop('read')],
        isBuiltin: false,
      },
    ],
  )
  const [described] = describeRoles([shop('a')], all, graph).map((each) => decode(each))
  t.same(described!['privileges'], own)
  t.same(described!['inheritedPrivileges'].slice(0, 1), own)
  t.equal(described!['inheritedPrivileges'].length, 3, 'the database and system.js by read')
  const listed = describeRolesOf('shop', true, brief, graph).map((each) => decode(each))
  t.same(listed[0], { role: 'dbAdmin', db: 'shop', isBuiltin: true, roles: [], inheritedRoles: [] })
  t.same(
    listed.map(({ role }) => role),
    ['dbAdmin', 'dbOwner', 'enableSharding', 'read', 'readWrite', 'userAdmin', 'a', 'b'],
  )
  t.equal(describeRolesOf('shop', false, brief, graph).length, 2)
  t.same(decode(describeAsUser([shop('b')], false, graph))['inheritedRoles'], [shop('b'), shop('read')])
  const old = new RoleGraph([roleOf('a', [shop('b')], own)], rulesOf('4.4'))
  const details = { showPrivileges: true, showAuthenticationRestrictions: true }
  for (const role of [shop('a'), shop('read')])
    t.same(Object.keys(decode(describeRoles([role], details, old)[0]!)), [
      'role',
      'db',
      'isBuiltin',
      'roles',
      'inheritedRoles',
      'privileges',
      'authenticationRestrictions',
      'inheritedPrivileges',
      'inheritedAuthenticationRestrictions',
    ])
  t.end()
})
