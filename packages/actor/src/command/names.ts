/** Server: namespace_string.cpp, database_name.h. */
import { CommandError } from '@shardlab/bson'

/** @throws CommandError 73 InvalidNamespace */
export function checkCollectionName(db: string, name: string): void {
  if (name === '' || name.includes('\0') || name.startsWith('.')) {
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${db}.${name}'`)
  }
}

/** Every command names a database, mostly the same one. */
let lastValidName = 'admin'

/**
 * For a database that a command names. It may contain `$`, but no such database can be created.
 * @throws CommandError 73 InvalidNamespace
 */
export function checkDatabaseName(db: string): void {
  if (db === lastValidName) return
  if (db === '' || Buffer.byteLength(db) > 63 || /[\0/\\. "]/.test(db)) {
    throw new CommandError('InvalidNamespace', `Invalid database name: '${db}'`)
  }
  lastValidName = db
}
