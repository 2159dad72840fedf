/** Names of users and roles: each belongs to a database. */
import { sha256 } from '@noble/hashes/sha2.js'
import { BsonType, CommandError, DocumentWriter, findField, typeName, type RawValue } from '@shardlab/bson'

export interface UserName {
  readonly user: string
  readonly db: string
}

export interface RoleName {
  readonly role: string
  readonly db: string
}

/** As error texts name it: `reader@shop`. */
export const fullUserName = ({ user, db }: UserName): string => `${user}@${db}`
export const fullRoleName = ({ role, db }: RoleName): string => `${role}@${db}`

/** The `_id` in `system.users`. Unambiguous, since names of databases have no dot. */
export const userKey = ({ user, db }: UserName): string => `${db}.${user}`
export const roleKey = ({ role, db }: RoleName): string => `${db}.${role}`

/** Of sessions. Server: User::getDigest. */
export const userDigest = (name: UserName): Uint8Array => sha256(Buffer.from(fullUserName(name)))

/** Distinct, in the order of their first occurrence. */
export function distinctRoles(roles: Iterable<RoleName>): RoleName[] {
  return [...new Map([...roles].map((role) => [roleKey(role), role])).values()].map(({ role, db }) => ({ role, db }))
}

export function writeRoles(writer: DocumentWriter, field: string, roles: readonly RoleName[]): DocumentWriter {
  writer.startArray(field)
  roles.forEach(({ role, db }, i) => writer.startDocument(String(i)).string('role', role).string('db', db).end())
  return writer.end()
}

/**
 * A name is a string, which names one of the command's database, or a document.
 * @param kind the field with the name: `user` or `role`
 * @throws CommandError BadValue, NoSuchKey, TypeMismatch
 */
export function readName(value: RawValue, kind: 'user' | 'role', db: string): { name: string; db: string } {
  if (value.type === BsonType.string) return { name: value.asString(), db }
  if (value.type !== BsonType.object)
    throw new CommandError('BadValue', 'User and role names must be either strings or objects')
  const document = value.slice()
  return { name: textField(document, kind), db: textField(document, 'db') }
}

export function readUserName(value: RawValue, db: string): UserName {
  const { name, db: source } = readName(value, 'user', db)
  return { user: name, db: source }
}

export function readRoleName(value: RawValue, db: string): RoleName {
  const { name, db: source } = readName(value, 'role', db)
  return { role: name, db: source }
}

/** Server: bsonExtractStringField. */
function textField(document: Uint8Array, field: string): string {
  const value = findField(document, field)
  if (value === undefined) throw new CommandError('NoSuchKey', `Missing expected field "${field}"`)
  if (value.type !== BsonType.string)
    throw new CommandError(
      'TypeMismatch',
      `"${field}" had the wrong type. Expected string, found ${typeName(value.type)}`,
    )
  return value.asString()
}
