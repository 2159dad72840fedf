/** The `client` document of hello. Server: client_metadata.cpp. */
import { BsonType, CommandError, FieldIterator, type RawValue } from '@shardlab/bson'
import type { MemberHost } from '../member-host.js'

/** A router adds to the document before it passes it on, so a mongod takes more. */
const documentBytesMax = { mongos: 512, mongod: 1024 }
const applicationNameBytesMax = 128

/**
 * @throws CommandError 14 TypeMismatch, 183 ClientMetadataMissingField, 184
 *   ClientMetadataAppNameTooLarge, 185 ClientMetadataDocumentTooLarge
 */
export function checkClientMetadata(value: RawValue, host: MemberHost): void {
  if (!isDocument(value)) throw new CommandError('TypeMismatch', 'The client metadata document must be a document')
  const limit = documentBytesMax[host.process]
  if (value.end - value.start > limit) {
    const unit = host.behaviours.clientMetadata === 'unspaced' ? 'bytes' : ' bytes'
    throw new CommandError(
      'ClientMetadataDocumentTooLarge',
      `The client metadata document must be less then or equal to ${limit}${unit}`,
    )
  }
  const found = new Set<string>()
  for (const it = new FieldIterator(value.bytes, value.start); it.next();) {
    const name = it.name()
    if (name !== 'application' && name !== 'driver' && name !== 'os') continue
    const part = it.value()
    if (!isDocument(part))
      throw new CommandError(
        'TypeMismatch',
        `The '${name}' field is required to be a BSON document in the client metadata document`,
      )
    if (name === 'application') checkApplication(part)
    else checkPart(name, part)
    found.add(name)
  }
  for (const name of ['driver', 'os'])
    if (!found.has(name))
      throw new CommandError(
        'ClientMetadataMissingField',
        `Missing required sub-document '${name}' in the client metadata document`,
      )
}

const requiredFields = { driver: ['name', 'version'], os: ['type'] } as const

function checkPart(part: 'driver' | 'os', document: RawValue): void {
  const required: readonly string[] = requiredFields[part]
  const found = new Set<string>()
  for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
    if (!required.includes(it.name())) continue
    checkString(`${part}.${it.name()}`, it.value())
    found.add(it.name())
  }
  const missing = required.find((name) => !found.has(name))
  if (missing !== undefined)
    throw new CommandError(
      'ClientMetadataMissingField',
      `Missing required field '${part}.${missing}' in the client metadata document`,
    )
}

function checkApplication(document: RawValue): void {
  for (const it = new FieldIterator(document.bytes, document.start); it.next();) {
    if (it.name() !== 'name') continue
    checkString('application.name', it.value())
    if (Buffer.byteLength(it.value().asString()) > applicationNameBytesMax)
      throw new CommandError(
        'ClientMetadataAppNameTooLarge',
        `The 'application.name' field must be less then or equal to ${applicationNameBytesMax} bytes in the client metadata document`,
      )
    return
  }
}

function checkString(name: string, value: RawValue): void {
  if (value.type !== BsonType.string)
    throw new CommandError('TypeMismatch', `The '${name}' field must be a string in the client metadata document`)
}

function isDocument({ type }: RawValue): boolean {
  return type === BsonType.object || type === BsonType.array
}
