/**
 * `collectionUUID`: the command is for the collection with this UUID only. Server:
 * collection_uuid_mismatch.cpp, collection_uuid_mismatch_info.cpp.
 */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError, DocumentWriter, findField } from '@shardlab/bson'
import { splitNamespace } from './split-namespace.js'

const uuidSubtype = 4

/**
 * The 16 bytes of the argument; null: absent.
 * @throws CommandError 14 TypeMismatch
 */
export function collectionUuidOf(args: CommandArguments): Uint8Array | null {
  const value = args.value('collectionUUID')
  if (value === undefined) return null
  return uuidIn(`${args.command}.collectionUUID`, value.slice())
}

/** @param binary a BSON value of type binary: length, subtype, bytes */
export function uuidIn(field: string, binary: Uint8Array): Uint8Array {
  if (binary[4] !== uuidSubtype || binary.length !== 21)
    throw new CommandError('TypeMismatch', `BSON field '${field}' is the wrong binData type, expected type 'UUID'`)
  return binary.subarray(5)
}

/** @param actualNs the collection of the same database that has the UUID; null: unknown UUID */
export function uuidMismatch(ns: string, uuid: Uint8Array, actualNs: string | null): CommandError {
  const [db, name] = splitNamespace(ns)
  const extra = new DocumentWriter(128).string('db', db).uuid('collectionUUID', uuid).string('expectedCollection', name)
  if (actualNs === null) extra.null('actualCollection')
  else extra.string('actualCollection', splitNamespace(actualNs)[1])
  return new CommandError('CollectionUUIDMismatch', 'Collection UUID does not match that specified', {
    extra: extra.finish(),
  })
}

/** Views have no UUID. @throws CommandError 361 CollectionUUIDMismatch */
export function refuseUuidOfView(ns: string, body: Uint8Array): void {
  const value = findField(body, 'collectionUUID')
  if (value !== undefined) throw uuidMismatch(ns, uuidIn('collectionUUID', value.slice()), null)
}
