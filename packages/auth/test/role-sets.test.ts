/** The role graph and the set of privileges agree with access control by definition. */
import fc from 'fast-check'
import t from 'tap'
import { toRawValue } from '@shardlab/bson'
import { check } from '@shardlab/bson/testing'
import {
  clusterResource,
  databaseResource,
  exactResource,
  parsePrivileges,
  PrivilegeSet,
  RoleGraph,
  type Resource,
} from '../src/index.js'
import { naiveAllows, naivePrivileges, type NaiveRole, type NaiveTarget } from './support/naive-access.js'
import { releases, rulesOf } from './support/releases.js'

const roleSets = 10_000

const dbs = ['admin', 'shop', 'local', 'config']
const collections = [
  'orders',
  'weather',
  'system.js',
  'system.users',
  'system.profile',
  'system.buckets.',
  'system.buckets.weather',
  'replset.election',
]
const actions = ['find', 'insert', 'collStats', 'createUser', 'listDatabases', 'dropDatabase', 'validate']
const builtIns = [
  ...['read', 'readWrite', 'dbAdmin', 'userAdmin', 'dbOwner', 'enableSharding', 'readAnyDatabase'],
  ...['readWriteAnyDatabase', 'userAdminAnyDatabase', 'dbAdminAnyDatabase', 'clusterMonitor', 'hostManager'],
  ...['clusterManager', 'clusterAdmin', 'backup', 'restore', 'root', '__system', 'unknown'],
]

const db = fc.constantFrom(...dbs)
const dbOrAny = fc.constantFrom('', ...dbs)
const resource = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ cluster: true as const }) },
  { weight: 1, arbitrary: fc.constant({ anyResource: true as const }) },
  { weight: 6, arbitrary: fc.record({ db: dbOrAny, collection: fc.constantFrom('', '', ...collections) }) },
  { weight: 2, arbitrary: fc.record({ db: dbOrAny, system_buckets: fc.constantFrom('', 'weather', 'orders') }) },
)
const privileges = fc.array(
  fc.record({
    resource,
    actions: fc.oneof(
      { weight: 9, arbitrary: fc.subarray(actions, { minLength: 1 }) },
      { weight: 1, arbitrary: fc.constant(['anyAction']) },
    ),
  }),
  { maxLength: 4 },
)
const definedNames = ['r0', 'r1', 'r2', 'r3']
const roleName = fc.oneof(
  { weight: 3, arbitrary: fc.record({ role: fc.constantFrom(...definedNames), db }) },
  { weight: 1, arbitrary: fc.record({ role: fc.constantFrom(...builtIns), db }) },
)
const roleNames = fc.array(roleName, { maxLength: 3 })
const defined: fc.Arbitrary<NaiveRole[]> = fc.uniqueArray(
  fc.record({ role: fc.constantFrom(...definedNames), db, privileges, roles: roleNames }),
  { maxLength: 8, selector: ({ role, db }) => `${db}.${role}` },
)
const target: fc.Arbitrary<NaiveTarget> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 2, arbitrary: fc.record({ db: fc.constantFrom('other', ...dbs) }) },
  {
    weight: 5,
    arbitrary: fc.record({ db: fc.constantFrom('other', ...dbs), collection: fc.constantFrom(...collections) }),
  },
)

function resourceOf(each: NaiveTarget): Resource {
  if (each === null) return clusterResource
  return each.collection === undefined ? databaseResource(each.db) : exactResource(each.db, each.collection)
}

t.test('random roles allow what the definition of each privilege allows', (t) => {
  let allowed = 0
  let refused = 0
  check(
    fc.property(
      fc.constantFrom(...releases),
      defined,
      roleNames,
      fc.array(fc.tuple(target, fc.constantFrom(...actions)), { minLength: 1, maxLength: 6 }),
      (release, roles, held, questions) => {
        const rules = rulesOf(release)
        // Users of older releases cannot write buckets: their privileges do not matter there.
        const written = roles.map((role) => ({
          ...role,
          privileges: role.privileges.filter(
            (each) => !('system_buckets' in each.resource) || rules.has('systemBuckets'),
          ),
        }))
        const graph = new RoleGraph(
          written.map(({ role, db, roles: inherited, privileges: own }) => ({
            name: { role, db },
            roles: inherited,
            privileges: parsePrivileges(toRawValue(own), rules),
            authenticationRestrictions: null,
          })),
          rules,
        )
        const set = new PrivilegeSet(graph.resolve(held).privileges, rules)
        const naive = naivePrivileges(held, written, release)
        for (const [each, action] of questions) {
          const expected = naiveAllows(naive, each, action, release)
          if (set.allows(resourceOf(each), action) !== expected) return false
          if (expected) allowed++
          else refused++
        }
        return true
      },
    ),
    roleSets,
  )
  t.ok(allowed > roleSets / 5, `${allowed} allowed`)
  t.ok(refused > roleSets / 5, `${refused} refused`)
  t.end()
})
