/** The explain command's own arguments. Manual: reference/command/explain. Server: explain_options.cpp, explain_cmd.cpp. */
import { isGenericArgument, type CommandArguments } from '@shardlab/actor'
import { BsonType, CommandError, DocumentWriter, FieldIterator, findField, firstFieldName, typeName } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'

export type Verbosity = 'queryPlanner' | 'executionStats' | 'allPlansExecution'

const verbosities: readonly string[] = ['queryPlanner', 'executionStats', 'allPlansExecution'] satisfies Verbosity[]

export const explainFields = { verbosity: 'string' } as const

/** @throws CommandError 2 BadValue, before 5.0 9 FailedToParse */
export function verbosityOf(args: CommandArguments, { explainFormat }: Behaviours): Verbosity {
  const verbosity = args.string('verbosity') ?? 'allPlansExecution'
  if (verbosities.includes(verbosity)) return verbosity as Verbosity
  throw explainFormat === '4.4'
    ? new CommandError('FailedToParse', "verbosity string must be one of {'queryPlanner', 'executionStats', 'allPlansExecution'}")
    : new CommandError('BadValue', `Enumeration value '${verbosity}' for field 'explain.verbosity' is not a valid value.`)
}

/**
 * The command that is to be explained.
 * @throws CommandError 14 TypeMismatch, 73 InvalidNamespace for another database
 */
export function explainedCommand(args: CommandArguments, db: string): Uint8Array {
  const { target } = args
  if (target.type !== BsonType.object)
    throw new CommandError(
      'TypeMismatch',
      `BSON field 'explain.explain' is the wrong type '${typeName(target.type)}', expected type 'object'`,
    )
  const body = target.slice()
  const inner = findField(body, '$db')
  if (inner?.type === BsonType.string && inner.asString() !== db)
    throw new CommandError('InvalidNamespace', `Mismatched $db in explain command. Expected ${db} but got ${inner.asString()}`)
  return body
}

export function unknownCommand(body: Uint8Array): CommandError {
  return new CommandError('CommandNotFound', `Explain failed due to unknown command: ${firstFieldName(body) ?? ''}`)
}

export function cannotExplain(name: string): CommandError {
  return new CommandError('IllegalOperation', `Cannot explain cmd: ${name}`)
}

/** The command without what belongs to the explain around it; its comment stays out, too. */
export function withoutGenericArguments(body: Uint8Array): DocumentWriter {
  const writer = new DocumentWriter(body.length + 64)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (!isGenericArgument(name)) writer.value(name, it.value())
  }
  return writer
}

/** `command` as explain shows it. */
export function shownCommand(body: Uint8Array, db: string): Uint8Array {
  return withoutGenericArguments(body).string('$db', db).finish()
}
