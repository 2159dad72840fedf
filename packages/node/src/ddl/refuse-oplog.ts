/**
 * Clients cannot change the oplog, nor drop some databases. Server: write_ops.cpp and the commands,
 * for replica sets.
 */
import { CommandError, noCode } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import { oplogNs } from '../log/oplog-collection.js'

/** @throws CommandError 73 InvalidNamespace. Server: userAllowedWriteNS */
export function refuseOplogWrite(ns: string): void {
  if (ns === oplogNs) throw new CommandError('InvalidNamespace', `cannot write to ${ns}`)
}

/** @throws CommandError 48 NamespaceExists */
export function refuseOplogCreation(ns: string): void {
  if (ns === oplogNs) throw new CommandError('NamespaceExists', `Collection ${ns} already exists.`)
}

/** @throws CommandError 5255000. Server: drop_collection.cpp */
export function refuseOplogDrop(ns: string, { dropOfOplogHasCode }: Behaviours): void {
  if (ns === oplogNs)
    throw new CommandError(dropOfOplogHasCode ? 5255000 : noCode, "can't drop live oplog while replicating")
}

/** @throws CommandError 20 IllegalOperation. Server: validateNamespacesForRenameCollection */
export function refuseOplogRename(from: string, to: string): void {
  if (from === oplogNs) throw new CommandError('IllegalOperation', "can't rename live oplog while replicating")
  if (to === oplogNs) throw new CommandError('IllegalOperation', "can't rename to live oplog while replicating")
}

/** The database admin has the users. @throws CommandError 20 IllegalOperation */
export function refuseDatabaseDrop(db: string, { adminDatabaseStays }: Behaviours): void {
  if (db === 'local')
    throw new CommandError('IllegalOperation', "Cannot drop 'local' database while replication is active")
  if (db === 'admin' && adminDatabaseStays)
    throw new CommandError('IllegalOperation', "Dropping the 'admin' database is prohibited.")
}
