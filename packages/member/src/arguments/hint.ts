import type { CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, findField, isEmptyDocument } from '@shardlab/bson'

/**
 * An empty document counts as absent. Server: hint_parser.cpp.
 * @throws CommandError 9 FailedToParse for other types, 2 BadValue for an invalid `$natural`
 */
export function hintOf(args: CommandArguments): { hint?: string | Uint8Array } {
  const hint = args.value('hint')
  if (hint === undefined) return {}
  if (hint.type === BsonType.string) return { hint: hint.asString() }
  if (hint.type !== BsonType.object) throw new CommandError('FailedToParse', 'Hint must be a string or an object')
  const pattern = hint.slice()
  checkNatural(pattern, 'hint')
  return isEmptyDocument(pattern) ? {} : { hint: pattern }
}

/** @throws CommandError 2 BadValue for a `$natural` other than ±1, or together with other fields */
export function checkNatural(document: Uint8Array, what: 'hint' | 'sort'): void {
  const natural = findField(document, '$natural')
  if (natural === undefined) return
  const direction = natural.isNumber() ? Math.trunc(natural.asNumber()) : 0
  if (direction !== 1 && direction !== -1)
    throw new CommandError('BadValue', `$natural ${what} cannot be set to a value other than -1 or 1.`)
}
