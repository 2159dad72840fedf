import { errorCodeName, writeError, type CommandError, type DocumentWriter } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export type CodeNames = Pick<Behaviours, 'errorCodeNames'>

/** Null: the emulated version names no codes. */
export function codeNameOf({ errorCodeNames }: CodeNames, code: number): string | null {
  return errorCodeNames === null ? null : (errorCodeNames[code] ?? errorCodeName(code))
}

/** Appends `code` and, where the emulated version has it, `codeName`. */
export function writeCode(writer: DocumentWriter, code: number, behaviours: CodeNames): DocumentWriter {
  writer.int32('code', code)
  const name = codeNameOf(behaviours, code)
  return name === null ? writer : writer.string('codeName', name)
}

export function writeFailure(writer: DocumentWriter, error: CommandError, behaviours: CodeNames): void {
  writeError(writer, error, codeNameOf(behaviours, error.code))
}
