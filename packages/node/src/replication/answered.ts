import { CommandError, DocumentWriter } from '@shardlab/bson'
import type { CommandAnswer } from '@shardlab/replication'

/**
 * @param answer null: a reply without fields
 * @throws CommandError the answer
 */
export function answered(answer: CommandAnswer | null): DocumentWriter {
  if (answer instanceof CommandError) throw answer
  return answer ?? new DocumentWriter(256)
}
