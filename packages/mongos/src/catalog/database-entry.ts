import { decode, findField, type Long, type Timestamp } from '@shardlab/bson'
import type { DatabaseVersion } from '@shardlab/sharding'

/** Immutable. */
export interface DatabaseEntry {
  readonly name: string
  readonly primaryShard: string
  readonly version: DatabaseVersion
  /** Whether enableSharding was run; true in versions that do not store it. */
  readonly partitioned: boolean
}

export function parseDatabase(document: Uint8Array): DatabaseEntry {
  const { _id, primary, version } = decode(document) as {
    _id: string
    primary: string
    version?: { uuid: { buffer: Uint8Array }; timestamp?: Timestamp; lastMod: number | Long }
  }
  return {
    name: _id,
    primaryShard: primary,
    version:
      version === undefined
        ? ['', 0, 0, 0]
        : [
            Buffer.from(version.uuid.buffer).toString('hex'),
            version.timestamp?.t ?? 0,
            version.timestamp?.i ?? 0,
            Number(version.lastMod),
          ],
    partitioned: findField(document, 'partitioned')?.isTruthy() ?? true,
  }
}
