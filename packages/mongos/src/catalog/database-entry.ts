import { findField } from '@shardlab/bson'
import { parseDatabaseVersion, type DatabaseVersion } from '@shardlab/sharding'

/** Immutable. */
export interface DatabaseEntry {
  readonly name: string
  readonly primaryShard: string
  readonly version: DatabaseVersion
  /** Whether enableSharding was run; true in versions that do not store it. */
  readonly partitioned: boolean
}

export function parseDatabase(document: Uint8Array): DatabaseEntry {
  return {
    name: findField(document, '_id')!.asString(),
    primaryShard: findField(document, 'primary')!.asString(),
    version: parseDatabaseVersion(document),
    partitioned: findField(document, 'partitioned')?.isTruthy() ?? true,
  }
}
