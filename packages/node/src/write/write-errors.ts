/** Server: write_ops_exec.cpp. */
import { CommandError, DocumentWriter } from '@shardlab/bson'
import { errorText } from '@shardlab/member'

export interface WriteError {
  readonly index: number
  readonly error: CommandError
}

/**
 * Server: `WriteError::serialize`, before 5.1 `generateError`.
 * @param messageFirst whether the extra fields of the error follow its message
 */
function writeErrorFields(
  writer: DocumentWriter,
  index: number,
  { code, extra, message }: Pick<CommandError, 'code' | 'extra' | 'message'>,
  messageFirst: boolean,
): DocumentWriter {
  writer.int32('index', index).int32('code', code)
  if (messageFirst) writer.string('errmsg', message)
  if (extra !== null) writer.fields(extra)
  return messageFirst ? writer : writer.string('errmsg', message)
}

export function writeWriteErrors(writer: DocumentWriter, errors: readonly WriteError[], messageFirst: boolean): void {
  if (errors.length === 0) return
  writer.startArray('writeErrors')
  errors.forEach(({ index, error }, i) => {
    const { code, extra } = error
    writeErrorFields(
      writer.startDocument(String(i)),
      index,
      { code, extra, message: errorText(error, i) },
      messageFirst,
    ).end()
  })
  writer.end()
}
