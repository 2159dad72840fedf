/**
 * All layers throw it; the member that answers the client turns it into a reply with {@link
 * writeError}.
 */
import { DocumentWriter } from '../codec/writer.js'
import { ErrorCodes, errorCodeName, type ErrorCodeName } from './error-codes.js'

/** The reply has no `code`, as for the arguments of the server's oldest commands. */
export const noCode = 0

export interface CommandErrorOptions {
  errorLabels?: readonly string[]
  /** Fields to append to the reply (`keyPattern`, `writeErrors`, …). */
  extra?: Uint8Array | null
  /** For diagnosis: never part of a reply. */
  cause?: unknown
}

export class CommandError extends Error {
  readonly code: number
  readonly codeName: string
  readonly errorLabels: readonly string[]
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

/**
 * Appends ok, errmsg, code and codeName unless the code is {@link noCode}, errorLabels and extra.
 * @param codeName null: none
 */
export function writeError(
  writer: DocumentWriter,
  error: CommandError,
  codeName: string | null = error.codeName,
): void {
  writer.double('ok', 0).string('errmsg', error.message)
  if (error.code !== noCode) writer.int32('code', error.code)
  if (error.code !== noCode && codeName !== null) writer.string('codeName', codeName)
  if (error.errorLabels.length > 0) {
    writer.startArray('errorLabels')
    for (let i = 0; i < error.errorLabels.length; i++) writer.string(String(i), error.errorLabels[i]!)
    writer.end()
  }
  if (error.extra !== null) writer.fields(error.extra)
}

export function errorDocument(error: CommandError): Uint8Array {
  const writer = new DocumentWriter()
  writeError(writer, error)
  return writer.finish()
}
