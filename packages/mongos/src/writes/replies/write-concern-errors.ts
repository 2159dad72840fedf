/** Server: batch_write_op.cpp, wc_error.cpp, sharded_ddl_util. */
import { DocumentWriter, errorCodeName, ErrorCodes, FieldIterator, findField, textOf } from '@shardlab/bson'
import { codeNameOf, writeCode, type CodeNames } from '@shardlab/member'

export interface ShardConcernError {
  readonly shard: string
  readonly error: Uint8Array
}

/** A single error gets the shard's name; several become one time-out with all texts. */
export function mergedConcernError(errors: readonly ShardConcernError[], behaviours: CodeNames): Uint8Array {
  const [first] = errors
  if (errors.length === 1) return concernErrorAt(first!)
  const texts = errors.map(
    ({ shard, error }) =>
      `${codeNameOf(behaviours, codeOf(error)) ?? errorCodeName(codeOf(error))}: ${messageOf(error)} at ${shard}`,
  )
  return writeCode(new DocumentWriter(256), ErrorCodes.WriteConcernTimeout, behaviours)
    .string('errmsg', `multiple errors reported : ${texts.join(' :: and :: ')}`)
    .finish()
}

export function concernErrorAt({ shard, error }: ShardConcernError): Uint8Array {
  const writer = new DocumentWriter(error.length + 32)
  for (const it = new FieldIterator(error); it.next();) {
    if (it.name() === 'errmsg') writer.string('errmsg', `${messageOf(error)} at ${shard}`)
    else writer.value(it.name(), it.value())
  }
  return writer.finish()
}

function codeOf(error: Uint8Array): number {
  return findField(error, 'code')?.asNumber() ?? 0
}

function messageOf(error: Uint8Array): string {
  return textOf(findField(error, 'errmsg'))
}
