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

export function writeWriteErrors(writer: DocumentWriter, errors: readonly WriteError[]): void {
  if (errors.length === 0) return
  writer.startArray('writeErrors')
  errors.forEach(({ index, error }, i) => {
    writer.startDocument(String(i)).int32('index', index).int32('code', error.code)
    if (error.extra !== null) writer.fields(error.extra)
    writer.string('errmsg', error.message).end()
  })
  writer.end()
}
