/** Server: namespace_string.cpp, database_name.h. */
import { CommandError } from '@shardlab/bson'

/** @throws CommandError 73 InvalidNamespace */
export function checkCollectionName(db: string, name: string): void {
  checkNoNul(db)
  checkNoNul(name)
  if (name === '' || name.startsWith('.'))
    throw new CommandError('InvalidNamespace', `Invalid namespace specified '${db}.${name}'`)
}

/**
 * For parts that the server puts together to a namespace; the collection's name may be empty.
 * Server: constructors of NamespaceString.
 * @throws CommandError 73 InvalidNamespace
 */
export function checkNamespaceParts(db: string, name: string): void {
  if (name.startsWith('.'))
    throw new CommandError('InvalidNamespace', `Collection names cannot start with '.': ${name}`)
  checkNoNul(db)
  checkNoNul(name)
}

/** @throws CommandError 73 InvalidNamespace */
export function checkNoNul(name: string): void {
  if (name.includes('\0')) throw new CommandError('InvalidNamespace', 'namespaces cannot have embedded null characters')
}

/** Every command names a database, mostly the same one. */
let lastValidName = 'admin'

/**
 * For a database that a command names. It may contain `$`, but no such database can be created.
 * @throws CommandError 73 InvalidNamespace
 */
export function checkDatabaseName(db: string): void {
  if (db === lastValidName) return
  if (!isDatabaseName(db)) throw new CommandError('InvalidNamespace', `Invalid database name: '${db}'`)
  lastValidName = db
}

function isDatabaseName(db: string): boolean {
  return db !== '' && Buffer.byteLength(db) <= 63 && !/[\0/\\. "]/.test(db)
}

/** Whether it names a collection. Server: `NamespaceString::isValid`. */
export function isNamespace(ns: string): boolean {
  const dot = ns.indexOf('.')
  const name = ns.slice(dot + 1)
  return dot > 0 && name !== '' && !name.startsWith('.') && !name.includes('\0') && isDatabaseName(ns.slice(0, dot))
}
