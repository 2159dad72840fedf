/** The `writeErrors` of a batch and when the batch stops. Server: write_ops_exec.cpp. */
import { CommandError, DocumentWriter } from '@shardlab/bson'

export interface WriteError {
  readonly index: number
  readonly error: CommandError
}

/** StaleConfig and StaleDbVersion: the router must refresh; no later statement of an ordered batch may run. */
export function isStaleError(error: CommandError): boolean {
  return error.code === 13388 || error.code === 249
}

/** MaxTimeMSExpired: as all interruptions it ends the command and is no error of a statement. What was written stays. */
export function failsBatch(error: CommandError): boolean {
  return error.code === 50
}

/** An error's text of this length is only told of the first errors of a batch. Server: write_ops_exec.cpp, generateError. */
const longErrorBytes = 1024 * 1024

/** The text of an error that follows so many others. */
export function errorText({ message }: Pick<CommandError, 'message'>, earlierErrors: number): string {
  return earlierErrors > 1 && message.length > longErrorBytes ? '' : message
}

export function writeWriteErrors(writer: DocumentWriter, errors: readonly WriteError[]): void {
  if (errors.length === 0) return
  writer.startArray('writeErrors')
  errors.forEach(({ index, error }, i) => {
    writer.startDocument(String(i)).int32('index', index).int32('code', error.code)
    if (error.extra !== null) writer.fields(error.extra)
    writer.string('errmsg', errorText(error, i)).end()
  })
  writer.end()
}
