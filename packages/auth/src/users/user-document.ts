/**
 * Documents of `admin.system.users`. Manual: reference/system-users-collection. Server:
 * `user_document_parser.cpp`.
 */
import {
  BsonType,
  CommandError,
  DocumentWriter,
  elementsOf,
  FieldIterator,
  findField,
  type RawValue,
} from '@shardlab/bson'
import { readRoleName, userKey, writeRoles, type RoleName, type UserName } from '../names.js'

export interface UserDocument {
  readonly name: UserName
  /** A UUID. Null: created by a release without them. */
  readonly userId: Uint8Array | null
  /** A document: credentials by mechanism, or `{external: true}`. */
  readonly credentials: Uint8Array
  readonly roles: readonly RoleName[]
  /** A document. Null: none. */
  readonly customData: Uint8Array | null
  /** An array, as the client sent it. Null: none. */
  readonly authenticationRestrictions: RawValue | null
}

export function writeUser(user: UserDocument): Uint8Array {
  const writer = new DocumentWriter()
  writeUserFields(writer, user, () => writer.document('credentials', user.credentials))
  return writer.finish()
}

/** In the server's order. @param writeCredentials writes what stands for the field credentials */
export function writeUserFields(
  writer: DocumentWriter,
  user: UserDocument,
  writeCredentials: () => void,
  { customData = true, restrictions = true }: { customData?: boolean; restrictions?: boolean } = {},
): void {
  writer.string('_id', userKey(user.name))
  if (user.userId !== null) writer.uuid('userId', user.userId)
  writer.string('user', user.name.user).string('db', user.name.db)
  writeCredentials()
  if (restrictions && user.authenticationRestrictions !== null)
    writer.value('authenticationRestrictions', user.authenticationRestrictions)
  if (customData && user.customData !== null) writer.document('customData', user.customData)
  writeRoles(writer, 'roles', user.roles)
}

/** @throws CommandError UnsupportedFormat for a document that the server would refuse */
export function readUser(document: Uint8Array): UserDocument {
  const user = textOf(document, 'user')
  const db = textOf(document, 'db')
  const credentials = findField(document, 'credentials')
  const roles = findField(document, 'roles')
  const customData = findField(document, 'customData')
  const restrictions = findField(document, 'authenticationRestrictions')
  const userId = findField(document, 'userId')
  if (credentials?.type !== BsonType.object) throw malformed("User document needs 'credentials' field to be an object")
  if (roles?.type !== BsonType.array) throw malformed("User document needs 'roles' field to be an array")
  return {
    name: { user, db },
    userId: userId?.type === BsonType.binary ? userId.asBinary() : null,
    credentials: credentials.slice(),
    roles: elementsOf(roles).map((role) => {
      if (role.type !== BsonType.object)
        throw malformed("User document needs values in 'roles' array to be a sub-documents")
      return readRoleName(role, db)
    }),
    customData: customData?.type === BsonType.object ? customData.slice() : null,
    authenticationRestrictions: restrictions?.type === BsonType.array ? restrictions.detached() : null,
  }
}

/** Names of the mechanisms with which the user may authenticate. */
export function mechanismsOf({ credentials }: UserDocument): string[] {
  const names: string[] = []
  for (const it = new FieldIterator(credentials); it.next();) names.push(it.name())
  return names
}

function textOf(document: Uint8Array, field: string): string {
  const value = findField(document, field)
  if (value?.type !== BsonType.string) throw malformed(`User document needs '${field}' field to be a string`)
  if (value.asString() === '') throw malformed(`User document needs '${field}' field to be non-empty`)
  return value.asString()
}

const malformed = (message: string): CommandError => new CommandError('UnsupportedFormat', message)
