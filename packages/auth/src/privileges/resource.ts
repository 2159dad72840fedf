/**
 * Resources and the patterns of privileges. Manual: reference/resource-document. Server:
 * `resource_pattern.h`, `resource_pattern_search_list.h`.
 */
import type { DocumentWriter } from '@shardlab/bson'
import type { AccessRules } from '../rules/access-rules.js'

export type ResourcePattern =
  | { readonly kind: 'cluster' }
  /** Every resource. */
  | { readonly kind: 'any' }
  /** All databases and their normal collections. */
  | { readonly kind: 'anyNormal' }
  /** A database and its normal collections. */
  | { readonly kind: 'database'; readonly db: string }
  /** The collections of this name in all databases. */
  | { readonly kind: 'collection'; readonly collection: string }
  | { readonly kind: 'exact'; readonly db: string; readonly collection: string }
  /** Buckets of time-series collections; an empty name is any database or collection. */
  | { readonly kind: 'buckets'; readonly db: string; readonly collection: string }

/** What a command works on: the cluster, a database, or a collection. */
export type Resource = Extract<ResourcePattern, { kind: 'cluster' | 'any' | 'anyNormal' | 'database' | 'exact' }>

export const clusterResource = { kind: 'cluster' } as const
export const anyResource = { kind: 'any' } as const
export const anyNormalResource = { kind: 'anyNormal' } as const
export const databaseResource = (db: string) => ({ kind: 'database', db }) as const
export const collectionResource = (collection: string) => ({ kind: 'collection', collection }) as const
export const exactResource = (db: string, collection: string) => ({ kind: 'exact', db, collection }) as const
export const bucketsResource = (db: string, collection: string) => ({ kind: 'buckets', db, collection }) as const

/** Of patterns that users may write as `{db, collection}`. */
export function namespacePattern(db: string, collection: string): ResourcePattern {
  if (collection === '') return db === '' ? anyNormalResource : databaseResource(db)
  return db === '' ? collectionResource(collection) : exactResource(db, collection)
}

/** Equal for equal patterns. No name has a NUL. */
export function patternKey(pattern: ResourcePattern): string {
  const { kind } = pattern
  switch (kind) {
    case 'database':
      return `${kind}\0${pattern.db}`
    case 'collection':
      return `${kind}\0${pattern.collection}`
    case 'exact':
    case 'buckets':
      return `${kind}\0${pattern.db}\0${pattern.collection}`
    default:
      return kind
  }
}

const bucketsPrefix = 'system.buckets.'

/** All patterns that cover a resource. */
export function patternsCovering(resource: Resource, rules: AccessRules): ResourcePattern[] {
  switch (resource.kind) {
    case 'any':
      return [anyResource]
    case 'cluster':
    case 'anyNormal':
      return [anyResource, resource]
    case 'database':
      return isInternal(resource.db) && rules.has('internalDatabasesAreNotNormal')
        ? [anyResource, resource]
        : [anyResource, anyNormalResource, resource]
    case 'exact':
      return [
        anyResource,
        ...(isNormalCollection(resource.db, resource.collection, rules)
          ? patternsOfNormal(resource.db, rules)
          : patternsOfBuckets(resource.db, resource.collection, rules)),
        collectionResource(resource.collection),
        resource,
      ]
  }
}

function patternsOfNormal(db: string, rules: AccessRules): ResourcePattern[] {
  const database = databaseResource(db)
  return isInternal(db) && rules.has('internalCollectionsAreNotNormal') ? [database] : [anyNormalResource, database]
}

function patternsOfBuckets(db: string, collection: string, rules: AccessRules): ResourcePattern[] {
  if (!rules.has('systemBuckets')) return []
  if (!collection.startsWith(bucketsPrefix) || collection.length === bucketsPrefix.length) return []
  const name = collection.slice(bucketsPrefix.length)
  return [bucketsResource('', ''), bucketsResource(db, ''), bucketsResource('', name), bucketsResource(db, name)]
}

/** Server: NamespaceString::isNormalCollection, isSystem before. */
function isNormalCollection(db: string, collection: string, rules: AccessRules): boolean {
  if (collection.startsWith('system.')) return false
  return !(db === 'local' && collection.startsWith('replset.') && rules.has('replsetCollectionsAreNotNormal'))
}

export const isInternal = (db: string): boolean => db === 'local' || db === 'config'

/** Whether a privilege with this pattern can cover a collection of the database, or it itself. */
export function reachesInto(pattern: ResourcePattern, db: string): boolean {
  switch (pattern.kind) {
    case 'cluster':
      return false
    case 'any':
    case 'collection':
      return true
    case 'anyNormal':
      return !isInternal(db)
    case 'database':
    case 'exact':
      return pattern.db === db
    case 'buckets':
      return pattern.db === '' || pattern.db === db
  }
}

export function writeResource(writer: DocumentWriter, field: string, pattern: ResourcePattern): DocumentWriter {
  writer.startDocument(field)
  switch (pattern.kind) {
    case 'cluster':
      writer.bool('cluster', true)
      break
    case 'any':
      writer.bool('anyResource', true)
      break
    case 'buckets':
      if (pattern.db !== '') writer.string('db', pattern.db)
      writer.string('system_buckets', pattern.collection)
      break
    default:
      writer.string('db', 'db' in pattern ? pattern.db : '')
      writer.string('collection', 'collection' in pattern ? pattern.collection : '')
  }
  return writer.end()
}
