/** Names of databases and collections. Server: namespace_string.cpp, database_name.h. */
import { CommandError } from '@shardlab/bson'

/** @throws CommandError 73 InvalidNamespace for an invalid name of a collection */
export function checkCollectionName(db: string, name: string): void {
  if (name === '' || name.includes('\0') || name.startsWith('.')) {
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${db}.${name}'`)
  }
}

/** A cache of one name: every command names a database, mostly the same one. */
let lastValidName = 'admin'

/** @throws CommandError 73 InvalidNamespace for an invalid name of a database */
export function checkDatabaseName(db: string): void {
  if (db === lastValidName) return
  if (db === '' || Buffer.byteLength(db) > 63 || /[\0/\\. "$]/.test(db)) {
    throw new CommandError('InvalidNamespace', `Invalid database name: '${db}'`)
  }
  lastValidName = db
}
