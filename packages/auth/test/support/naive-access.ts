/** Access control by definition, without search lists, graphs or merged sets. */
import { builtInRoleTable, type Release } from '../../src/index.js'
import { releases, rulesOf } from './releases.js'

export type NaiveResource =
  | { readonly cluster: true }
  | { readonly anyResource: true }
  | { readonly db: string; readonly collection: string }
  | { readonly db?: string; readonly system_buckets: string }

export interface NaivePrivilege {
  readonly resource: NaiveResource
  readonly actions: readonly string[]
}

export interface NaiveRole {
  readonly role: string
  readonly db: string
  readonly privileges: readonly NaivePrivilege[]
  readonly roles: readonly { readonly role: string; readonly db: string }[]
}

/** Null: the cluster. No collection: the database. */
export type NaiveTarget = { readonly db: string; readonly collection?: string } | null

const isFrom = (release: Release, first: Release): boolean => releases.indexOf(release) >= releases.indexOf(first)
const isSpecial = (db: string): boolean => db === 'local' || db === 'config'

function isNormal(db: string, collection: string, release: Release): boolean {
  if (collection.startsWith('system.')) return false
  return !(isFrom(release, '4.4') && db === 'local' && collection.startsWith('replset.'))
}

export function naiveCovers(resource: NaiveResource, target: NaiveTarget, release: Release): boolean {
  if ('anyResource' in resource) return true
  if ('cluster' in resource) return target === null
  if (target === null) return false
  const { db, collection } = target
  if ('system_buckets' in resource) {
    const bucket = /^system\.buckets\.(.+)$/s.exec(collection ?? '')?.[1]
    if (bucket === undefined || !isFrom(release, '5.0')) return false
    return [resource.db ?? '', resource.system_buckets].every((name, i) => name === '' || name === [db, bucket][i])
  }
  if (collection === undefined) {
    if (resource.collection !== '') return false
    return resource.db === db || (resource.db === '' && !(isSpecial(db) && isFrom(release, '4.4')))
  }
  if (resource.collection !== '')
    return resource.collection === collection && (resource.db === '' || resource.db === db)
  if (!isNormal(db, collection, release)) return false
  return resource.db === db || (resource.db === '' && !(isSpecial(db) && isFrom(release, '4.0')))
}

function lives(lifetime: { since?: Release; until?: Release }, release: Release): boolean {
  if (lifetime.since !== undefined && !isFrom(release, lifetime.since)) return false
  return lifetime.until === undefined || !isFrom(release, lifetime.until)
}

function builtIn(role: string, db: string, release: Release): NaivePrivilege[] | null {
  const row = builtInRoleTable.find(({ name }) => name === role)
  if (row === undefined || !lives(row, release) || (row.isAdminOnly && db !== 'admin')) return null
  const privileges: NaivePrivilege[] = []
  for (const each of row.includes)
    if (lives(each, release)) privileges.push(...builtIn(each.role, each.db ?? db, release)!)
  for (const grant of row.grants) {
    if (!lives(grant, release)) continue
    const { on } = grant
    const actions = grant.actions.filter((action) => rulesOf(release).isAction(action))
    if ('own' in on) privileges.push({ resource: { db, collection: on.own }, actions })
    else if (on.kind === 'any') privileges.push({ resource: { anyResource: true }, actions })
    else if (on.kind === 'cluster') privileges.push({ resource: { cluster: true }, actions })
    else if (on.kind === 'buckets') privileges.push({ resource: { db: on.db, system_buckets: on.collection }, actions })
    else {
      const [ofDb, collection] = ['db' in on ? on.db : '', 'collection' in on ? on.collection : '']
      privileges.push({ resource: { db: ofDb, collection }, actions })
    }
  }
  return privileges
}

/** All privileges of roles, by walking every path. */
export function naivePrivileges(
  roles: readonly { readonly role: string; readonly db: string }[],
  defined: readonly NaiveRole[],
  release: Release,
  path: readonly NaiveRole[] = [],
): NaivePrivilege[] {
  return roles.flatMap(({ role, db }) => {
    const own = builtIn(role, db, release)
    if (own !== null) return own
    const found = defined.find((each) => each.role === role && each.db === db)
    if (found === undefined || path.includes(found)) return []
    return [...found.privileges, ...naivePrivileges(found.roles, defined, release, [...path, found])]
  })
}

export function naiveAllows(
  privileges: readonly NaivePrivilege[],
  target: NaiveTarget,
  action: string,
  release: Release,
): boolean {
  return privileges.some(
    ({ resource, actions }) =>
      naiveCovers(resource, target, release) && (actions.includes(action) || actions.includes('anyAction')),
  )
}
