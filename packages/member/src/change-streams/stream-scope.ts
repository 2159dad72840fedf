/** Which namespaces a change stream covers. Server: document_source_change_stream.cpp. */
import { CommandError } from '@shardlab/bson'
import { splitNamespace } from '../arguments/split-namespace.js'

export type StreamScope =
  | { readonly kind: 'collection'; readonly ns: string; readonly db: string }
  | { readonly kind: 'database'; readonly db: string }
  | { readonly kind: 'cluster' }

export interface ScopeOptions {
  readonly allChangesForCluster: boolean
  readonly allowToRunOnConfigDB: boolean
  readonly allowToRunOnSystemNS: boolean
  readonly onRouter: boolean
}

/**
 * @param ns of the aggregate; `database.$cmd.aggregate` for `{ aggregate: 1 }`
 * @throws CommandError 72 InvalidOptions, 73 InvalidNamespace
 */
export function scopeOf(ns: string, options: ScopeOptions): StreamScope {
  const [db, name] = splitNamespace(ns)
  const isDatabase = name === '$cmd.aggregate'
  const { allChangesForCluster, allowToRunOnConfigDB, allowToRunOnSystemNS, onRouter } = options
  if (allChangesForCluster && !(db === 'admin' && isDatabase))
    throw new CommandError(
      'InvalidOptions',
      `A $changeStream with 'allChangesForCluster:true' may only be opened on the 'admin' database, and with no collection name; found ${ns}`,
    )
  const isInternal =
    db === 'admin' ? !allChangesForCluster : isInternalDatabase(db) && !(db === 'config' && allowToRunOnConfigDB)
  if (isInternal)
    throw new CommandError('InvalidNamespace', `$changeStream may not be opened on the internal ${db} database`)
  if (isSystem(name) && !(allowToRunOnSystemNS && !onRouter))
    throw new CommandError(
      'InvalidNamespace',
      `$changeStream may not be opened on the internal ${ns} collection${allowToRunOnSystemNS ? ' through mongos' : ''}`,
    )
  if (db === 'admin') return { kind: 'cluster' }
  return isDatabase ? { kind: 'database', db } : { kind: 'collection', ns, db }
}

const isInternalDatabase = (db: string): boolean => db === 'local' || db === 'config'

const isSystem = (name: string): boolean => name.startsWith('system.')

/** Whether documents of the collection are in the scope. @param ns `database.collection` */
export function covers(scope: StreamScope, ns: string, showSystemEvents: boolean): boolean {
  if (scope.kind === 'collection') return ns === scope.ns
  const [db, name] = splitNamespace(ns)
  if (!coversDatabase(scope, db) || name.startsWith('$')) return false
  return !isSystem(name) || (showSystemEvents && shownSystemCollections.test(name))
}

/** Server: kRegexAllCollectionsShowSystemEvents. */
const shownSystemCollections = /^system\.(js$|resharding\.|buckets\.|views$)/

export function coversDatabase(scope: StreamScope, db: string): boolean {
  return scope.kind === 'cluster' ? db !== 'admin' && !isInternalDatabase(db) : db === scope.db
}
