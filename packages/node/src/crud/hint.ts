import type { CommandArguments } from '@shardlab/actor'
import { BsonType, isEmptyDocument } from '@shardlab/bson'

/** The `hint` argument as the planner takes it: an index name or key pattern; an empty document is none. */
export function hintOf(args: CommandArguments): { hint?: string | Uint8Array } {
  const hint = args.value('hint')
  if (hint === undefined) return {}
  if (hint.type === BsonType.string) return { hint: hint.asString() }
  const pattern = hint.slice()
  return isEmptyDocument(pattern) ? {} : { hint: pattern }
}
