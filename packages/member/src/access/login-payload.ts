/** Payloads of logins. Server: sasl_payload.cpp; before 5.0 sasl_client_authenticate.cpp. */
import { decodeBase64, type AccessRules } from '@shardlab/auth'
import { BsonType, CommandError, typeName, type RawValue } from '@shardlab/bson'
import { formatValue } from '@shardlab/query'

/**
 * The text of a message.
 * @param payload binary, or a text in base64
 * @throws CommandError BadValue, TypeMismatch before 5.0; 10270, 40537, FailedToParse before 5.0
 */
export function payloadText(payload: RawValue, rules: AccessRules): string {
  const isParsed = rules.has('parsedPayloads')
  if (payload.type === BsonType.string) return decoded(payload.asString(), isParsed)
  if (payload.type === BsonType.binary) {
    const subtype = payload.bytes[payload.start + 4]!
    if (isParsed && subtype !== 0)
      throw new CommandError(
        'BadValue',
        `Invalid SASLPayload subtype. Expected BinDataGeneral, got: ${subtypeNames[subtype] ?? 'invalid'}`,
      )
    return Buffer.from(payload.asBinary()).toString()
  }
  if (isParsed)
    throw new CommandError(
      'BadValue',
      `Invalid SASLPayload type. Expected Base64 or BinData, got: ${typeName(payload.type)}`,
    )
  throw new CommandError(
    'TypeMismatch',
    `Wrong type for field; expected BinData or String for payload: ${formatValue(payload)}`,
  )
}

function decoded(text: string, isParsed: boolean): string {
  try {
    return decodeBase64(text).toString()
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw isParsed
      ? new CommandError(error.code, `Failed decoding SASL payload: ${error.message}`)
      : new CommandError('FailedToParse', error.message)
  }
}

/** Server: bsontypes.cpp, typeName(BinDataType). */
const subtypeNames: Readonly<Record<number, string>> = {
  1: 'function',
  2: 'byte(deprecated)',
  3: 'UUID(deprecated)',
  4: 'UUID',
  5: 'MD5',
  6: 'encrypt',
  7: 'column',
  8: 'sensitive',
  128: 'Custom',
}
