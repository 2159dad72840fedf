/**
 * What a command fails with: a code of MongoDB's, its name, a message, and whatever else the reply carries.
 * Thrown by every floor; the one who answers the client turns it into a reply with {@link writeError}.
 */
import { DocumentWriter } from '../writer.js'
import { ErrorCodes, errorCodeName, type ErrorCodeName } from './error-codes.js'

/** As a code: the reply names none, as with the arguments of the server's oldest commands. */
export const noCode = 0

export interface CommandErrorOptions {
  /** Such as `TransientTransactionError`; default none. */
  errorLabels?: readonly string[]
  /** A document whose fields follow the others in the reply (`keyPattern`, `writeErrors`, …); default none. */
  extra?: Uint8Array | null
  /** What led to it, for our own eyes only: never part of a reply. */
  cause?: unknown
}

export class CommandError extends Error {
  readonly code: number
  readonly codeName: string
  readonly errorLabels: readonly string[]
  /** A document with further fields of the reply, or null. */
  readonly extra: Uint8Array | null

  constructor(code: number | ErrorCodeName, message: string, options: CommandErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'CommandError'
    this.code = typeof code === 'number' ? code : ErrorCodes[code]
    this.codeName = errorCodeName(this.code)
    this.errorLabels = options.errorLabels ?? []
    this.extra = options.extra ?? null
  }
}

/** Appends the fields of a failed command's reply: ok, errmsg, code and codeName unless it has {@link noCode}, errorLabels if any, extra fields. */
export function writeError(writer: DocumentWriter, error: CommandError): void {
  writer.double('ok', 0).string('errmsg', error.message)
  if (error.code !== noCode) writer.int32('code', error.code).string('codeName', error.codeName)
  if (error.errorLabels.length > 0) {
    writer.startArray('errorLabels')
    for (let i = 0; i < error.errorLabels.length; i++) writer.string(String(i), error.errorLabels[i]!)
    writer.end()
  }
  if (error.extra !== null) writer.fields(error.extra)
}

/** The whole reply of a failed command. */
export function errorDocument(error: CommandError): Uint8Array {
  const writer = new DocumentWriter()
  writeError(writer, error)
  return writer.finish()
}
