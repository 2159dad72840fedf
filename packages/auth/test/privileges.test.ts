import t from 'tap'
import { CommandError, decode, DocumentWriter, toRawValue } from '@shardlab/bson'
import {
  bucketsResource,
  clusterResource,
  databaseResource,
  exactResource,
  parsePrivileges,
  PrivilegeSet,
  subtractPrivileges,
  writePrivileges,
  type Privilege,
  type Release,
} from '../src/index.js'
import { releases, rulesOf } from './support/releases.js'

const parse = (privileges: unknown, release: Release = '8.0'): Privilege[] =>
  parsePrivileges(toRawValue(privileges), rulesOf(release))

const written = (privileges: readonly Privilege[], release: Release = '8.0'): unknown =>
  decode(writePrivileges(new DocumentWriter(), 'privileges', privileges, rulesOf(release)).finish())['privileges']

function errorOf(privileges: unknown, release: Release): [code: number, message: string] {
  try {
    parse(privileges, release)
  } catch (error) {
    return [(error as CommandError).code, (error as CommandError).message]
  }
  throw new Error('no error')
}

t.test('privileges are written as users write them, one for each resource', (t) => {
  const privileges = [
    { resource: { db: 'shop', collection: 'orders' }, actions: ['find', 'insert'] },
    { resource: { db: 'shop', collection: '' }, actions: ['find'] },
    { resource: { db: '', collection: 'system.js' }, actions: ['find'] },
    { resource: { db: '', collection: '' }, actions: ['find'] },
    { resource: { cluster: true }, actions: ['listShards'] },
    { resource: { anyResource: true }, actions: ['anyAction'] },
    { resource: { system_buckets: '' }, actions: ['find'] },
    { resource: { system_buckets: 'weather' }, actions: ['find'] },
    { resource: { db: 'shop', system_buckets: '' }, actions: ['find'] },
    { resource: { db: 'shop', system_buckets: 'weather' }, actions: ['find'] },
  ]
  t.same(written(parse(privileges)), privileges)
  const twice = [privileges[1]!, { resource: { db: 'shop', collection: '' }, actions: ['update', 'collStats'] }]
  t.same(written(parse(twice)), [
    { resource: { db: 'shop', collection: '' }, actions: ['collStats', 'find', 'update'] },
  ])
  t.end()
})

t.test('a privilege that users cannot grant is refused as by the server', (t) => {
  const find = ['find']
  const cases: readonly [resource: unknown, before70: string, since70: string][] = [
    [
      { db: 'a' },
      'resource must set both db and collection or neither, but not exactly one.',
      "resource pattern must contain 'collection' or 'systemBuckets' specifier",
    ],
    [
      { collection: 'a' },
      'resource must set both db and collection or neither, but not exactly one.',
      "resource {collection: '...'} must include 'db' field as well",
    ],
    [
      {},
      'resource must have exactly db and collection set, or have only cluster set  or have only anyResource set',
      "resource pattern must contain 'collection' or 'systemBuckets' specifier",
    ],
    [
      { cluster: true, anyResource: true },
      'resource must have exactly db and collection set, or have only cluster set  or have only anyResource set',
      "resource: {cluster: true} conflicts with resource type 'anyResource'",
    ],
    [{ cluster: false }, 'cluster must be true when specified', 'resource: {cluster: false} must be true'],
    [{ db: 'a', collection: 'b$c' }, 'b$c is not a valid collection name', "'b$c' is not a valid collection name"],
  ]
  for (const [resource, before70, since70] of cases) {
    for (const release of ['2.6', '6.0'] as const)
      t.same(errorOf([{ resource, actions: find }], release), [9, before70], `${JSON.stringify(resource)} ${release}`)
    for (const release of ['7.0', '8.0'] as const)
      t.same(errorOf([{ resource, actions: find }], release), [2, since70], `${JSON.stringify(resource)} ${release}`)
  }
  const resource = { db: 'a', collection: '' }
  t.same(errorOf([{ resource, actions: [] }], '4.4'), [9, 'missing actions field'])
  t.same(errorOf([{ resource, actions: [] }], '8.0'), [2, "'actions' field of privilege resource must not be empty"])
  t.same(errorOf([{ resource }], '8.0'), [40414, "BSON field 'actions' is missing but a required field"])
  t.same(errorOf([{ actions: find }], '8.0'), [40414, "BSON field 'resource' is missing but a required field"])
  t.same(errorOf([1], '8.0'), [9, 'Elements in privilege arrays must be objects'])
  t.same(errorOf([{ resource: 5, actions: find }], '6.0'), [
    9,
    "wrong type for 'resource' field, expected Object/Array, found resource: 5",
  ])
  t.same(errorOf([{ resource, actions: 'find' }], '4.0'), [
    9,
    `wrong type for 'actions' field, expected vector array, found actions: "find"`,
  ])
  t.same(errorOf([{ resource: {}, actions: ['find', true] }], '4.0'), [
    9,
    "error parsing element 1 of field actions :: caused by :: wrong type for '1' field, expected string, found 1: true",
  ])
  t.same(errorOf([{ resource: { cluster: 'yes' }, actions: [] }], '4.0'), [
    9,
    `wrong type for 'cluster' field, expected boolean, found cluster: "yes"`,
  ])
  t.same(errorOf([{ resource: { cluster: 'yes' }, actions: find }], '8.0'), [
    14,
    "BSON field 'resource.cluster' is the wrong type 'string', expected types '[bool, long, int, decimal, double]'",
  ])
  for (const release of releases)
    t.same(errorOf([{ resource, actions: ['fly', 'find', 'swim'] }], release), [
      9,
      'Unrecognized action privilege strings: fly,swim',
    ])
  t.end()
})

t.test('an action is unknown before the release that introduced it', (t) => {
  const changeStream = [{ resource: { db: 'a', collection: '' }, actions: ['changeStream'] }]
  t.same(errorOf(changeStream, '2.6'), [9, 'Unrecognized action privilege strings: changeStream'])
  t.equal(parse(changeStream, '4.0').length, 1)
  t.equal(errorOf([{ resource: { cluster: true }, actions: ['diagLogging'] }], '4.0')[0], 9)
  t.equal(parse([{ resource: { cluster: true }, actions: ['diagLogging'] }], '2.6').length, 1)
  for (const release of releases) t.ok(rulesOf(release).actions.length > 100, release)
  t.end()
})

t.test('actions that one resource needs may come from several privileges', (t) => {
  const set = new PrivilegeSet(
    parse([
      { resource: { db: 'shop', collection: '' }, actions: ['find'] },
      { resource: { db: '', collection: 'orders' }, actions: ['insert'] },
      { resource: { cluster: true }, actions: ['listShards'] },
    ]),
    rulesOf('8.0'),
  )
  t.ok(set.allows(exactResource('shop', 'orders'), 'find', 'insert'))
  t.notOk(set.allows(exactResource('shop', 'items'), 'find', 'insert'))
  t.notOk(set.allows(databaseResource('shop'), 'insert'), 'a collection is not its database')
  t.ok(set.allows(clusterResource, 'listShards'))
  t.notOk(set.allows(clusterResource, 'find'))
  t.notOk(set.allows(exactResource('shop', 'system.profile'), 'find'), 'a database does not cover system collections')
  t.ok(set.reachesInto('other'), 'a collection of this name may be there')
  t.ok(set.allowsAnything(exactResource('other', 'orders')))
  t.notOk(set.allowsAnything(exactResource('other', 'items')))
  t.end()
})

t.test('buckets of time-series collections are covered only by their own patterns', (t) => {
  const rules = rulesOf('8.0')
  const weather = exactResource('shop', 'system.buckets.weather')
  const allows = (resource: unknown, release: Release = '8.0'): boolean =>
    new PrivilegeSet(parse([{ resource, actions: ['find'] }], release), rulesOf(release)).allows(weather, 'find')
  t.ok(allows({ system_buckets: '' }))
  t.ok(allows({ system_buckets: 'weather' }))
  t.ok(allows({ db: 'shop', system_buckets: '' }))
  t.ok(allows({ db: 'shop', system_buckets: 'weather' }))
  t.ok(allows({ db: 'shop', collection: 'system.buckets.weather' }))
  t.notOk(allows({ db: 'other', system_buckets: 'weather' }))
  t.notOk(allows({ db: 'shop', collection: '' }))
  t.notOk(allows({ db: '', collection: '' }))
  const set = new PrivilegeSet([{ resource: bucketsResource('', ''), actions: new Set(['find']) }], rules)
  t.notOk(set.allows(exactResource('shop', 'system.buckets.'), 'find'), 'a name is needed')
  t.end()
})

t.test('revoking takes actions from privileges with the same resource', (t) => {
  const orders = { db: 'shop', collection: 'orders' }
  const held = parse([
    { resource: orders, actions: ['find', 'insert'] },
    { resource: { cluster: true }, actions: ['anyAction'] },
    { resource: { db: 'shop', collection: '' }, actions: ['find'] },
  ])
  const without = (removed: unknown): unknown => written(subtractPrivileges(held, parse(removed), rulesOf('8.0')))
  t.same((without([{ resource: orders, actions: ['insert', 'update'] }]) as unknown[])[0], {
    resource: orders,
    actions: ['find'],
  })
  t.equal((without([{ resource: orders, actions: ['find', 'insert'] }]) as unknown[]).length, 2)
  t.equal((without([{ resource: orders, actions: ['anyAction'] }]) as unknown[]).length, 2)
  const rest = without([{ resource: { cluster: true }, actions: ['find'] }]) as { actions: string[] }[]
  t.equal(rest[1]!.actions.includes('find'), false)
  t.equal(rest[1]!.actions.includes('anyAction'), false)
  t.ok(rest[1]!.actions.includes('listShards'))
  t.end()
})
