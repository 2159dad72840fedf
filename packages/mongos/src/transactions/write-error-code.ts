import { documentsOf, findField } from '@shardlab/bson'

/**
 * Of the first statement that has failed, in the reply of any write command. Null: none has; 1: the
 * reply has no code.
 */
export function codeOfWriteError(reply: Uint8Array): number | null {
  const errors = findField(reply, 'writeErrors')
  const first = errors === undefined ? undefined : documentsOf(errors)[0]
  if (first !== undefined) return findField(first, 'code')!.asNumber()
  return (findField(reply, 'nErrors')?.asNumber() ?? 0) > 0 ? 1 : null
}
