/** Server: explain_options.cpp, explain_cmd.cpp. */
import { isGenericArgument, type CommandArguments } from '@shardlab/actor'
import {
  BsonType,
  CommandError,
  DocumentWriter,
  FieldIterator,
  findField,
  firstFieldName,
  typeName,
} from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { CommandSpec } from './command-spec.js'
import { explainPrivileges } from '../access/administration-privileges.js'

export const explainSpec = {
  name: 'explain',
  access: 'read',
  privileges: explainPrivileges,
  apiVersion1: true,
  manual: 'reference/command/explain',
  fields: { verbosity: 'string' },
} as const satisfies CommandSpec

export type Verbosity = 'queryPlanner' | 'executionStats' | 'allPlansExecution'

const verbosities: readonly string[] = ['queryPlanner', 'executionStats', 'allPlansExecution'] satisfies Verbosity[]

/** @throws CommandError 2 BadValue; before 5.0, 9 FailedToParse */
export function verbosityOf(args: CommandArguments, { explainVerbosityIsEnumerated }: Behaviours): Verbosity {
  const verbosity = args.string('verbosity') ?? 'allPlansExecution'
  if (verbosities.includes(verbosity)) return verbosity as Verbosity
  throw explainVerbosityIsEnumerated
    ? new CommandError(
        'BadValue',
        `Enumeration value '${verbosity}' for field 'explain.verbosity' is not a valid value.`,
      )
    : new CommandError(
        'FailedToParse',
        "verbosity string must be one of {'queryPlanner', 'executionStats', 'allPlansExecution'}",
      )
}

/** @throws CommandError 14 TypeMismatch, 73 InvalidNamespace for another database */
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
    throw new CommandError(
      'InvalidNamespace',
      `Mismatched $db in explain command. Expected ${db} but got ${inner.asString()}`,
    )
  return body
}

export function unknownCommand(body: Uint8Array): CommandError {
  return new CommandError('CommandNotFound', `Explain failed due to unknown command: ${firstFieldName(body) ?? ''}`)
}

export function cannotExplain(name: string): CommandError {
  return new CommandError('IllegalOperation', `Cannot explain cmd: ${name}`)
}

/** Generic arguments belong to the explain. */
export function withoutGenericArguments(body: Uint8Array): DocumentWriter {
  const writer = new DocumentWriter(body.length + 64)
  for (const it = new FieldIterator(body); it.next();) {
    const name = it.name()
    if (!isGenericArgument(name)) writer.value(name, it.value())
  }
  return writer
}

/**
 * As explain shows it: the command and its database.
 * @param outer the explain, of which a router shows the generic arguments. Server:
 *   cluster_explain_cmd.cpp, makeExplainedObj
 */
export function shownCommand(body: Uint8Array, db: string, outer?: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(body.length + (outer?.length ?? 0) + 64).fields(body)
  if (outer !== undefined) {
    for (const it = new FieldIterator(outer); it.next();) {
      const name = it.name()
      if (isGenericArgument(name) && findField(body, name) === undefined) writer.value(name, it.value())
    }
  }
  const hasDatabase =
    findField(body, '$db') !== undefined || (outer !== undefined && findField(outer, '$db') !== undefined)
  return hasDatabase ? writer.finish() : writer.string('$db', db).finish()
}

export function withoutExplain(body: Uint8Array): Uint8Array {
  const writer = new DocumentWriter(body.length)
  for (const it = new FieldIterator(body); it.next();) if (it.name() !== 'explain') writer.value(it.name(), it.value())
  return writer.finish()
}
