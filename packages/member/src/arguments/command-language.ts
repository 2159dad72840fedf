/**
 * The fields of commands in the emulated version. Until 4.4 each command had its own parser, with
 * its own answer to a field that it did not know. Server: query_request.cpp, getmore_request.cpp,
 * aggregation_request.cpp, find_and_modify.cpp, create_indexes.cpp, collection_options.cpp.
 */
import type { CommandRow, FieldSpecs, UnknownFields } from '@shardlab/actor'
import { CommandError, ErrorCodes, noCode } from '@shardlab/bson'
import { formatDocument, type Language, type UnknownFieldAnswer } from '@shardlab/query'
import { handwrittenParserIn } from './handwritten-parsers.js'

const unknownModification = (code: number, command: string, field: string) =>
  new CommandError(code, `unknown option to ${command}: ${field}`)

const answers: Readonly<Record<UnknownFieldAnswer, UnknownFields>> = {
  ignored: 'ignored',
  refused: 'refused',
  unnamed: (_command, field) => new CommandError(40415, `BSON field '${field}' is an unknown field.`),
  unrecognized: (_command, field) => new CommandError('FailedToParse', `unrecognized field '${field}'`),
  quoted: (_command, field, body) =>
    new CommandError('FailedToParse', `Failed to parse: ${formatDocument(body)}. Unrecognized field '${field}'.`),
  invalid: (command, field) => new CommandError('BadValue', `Invalid field specified for ${command} command: ${field}`),
  option: (_command, field, body) =>
    new CommandError(
      'InvalidOptions',
      `The field '${field}' is not a valid collection option. Options: ${formatDocument(body)}`,
    ),
  modification: (command, field) => unknownModification(ErrorCodes.InvalidOptions, command, field),
  argument: (command, field) => new CommandError('BadValue', `"${field}" is not a valid argument to ${command}`),
  'modification without code': (command, field) => unknownModification(noCode, command, field),
}

export function unknownFieldsIn({ unknownFields }: Language, command: string): UnknownFields {
  return answers[unknownFields[command] ?? unknownFields['*']!]
}

const known = new WeakMap<Language, WeakMap<FieldSpecs, FieldSpecs>>()

/**
 * Without the fields of later versions.
 * @param owner the command, or the list of statements in it, such as `update.updates`
 */
export function fieldsIn(language: Language, owner: string, specs: FieldSpecs): FieldSpecs {
  let ofLanguage = known.get(language)
  if (ofLanguage === undefined) known.set(language, (ofLanguage = new WeakMap()))
  let fields = ofLanguage.get(specs)
  if (fields === undefined) ofLanguage.set(specs, (fields = build(language, owner, specs)))
  return fields
}

function build(language: Language, owner: string, specs: FieldSpecs): FieldSpecs {
  const present = Object.entries(specs).filter(([name]) => language.hasField(owner, name))
  const comment = owner.includes('.') ? undefined : commentIn(language, owner)
  if (comment === undefined && present.length === Object.keys(specs).length) return specs
  return { ...Object.fromEntries(present), ...(comment === undefined ? {} : { comment }) }
}

/** undefined: it is a generic argument */
function commentIn({ comments }: Language, command: string): 'string' | 'absent' | undefined {
  const type = comments[command] ?? comments['*']
  return type === 'any' ? undefined : type
}

/**
 * Whether every command can have a comment. Then a getMore inherits that of the command that opened
 * its cursor, and routers add it to the commands for shards.
 */
export function hasGenericComments({ comments }: Language): boolean {
  return comments['*'] === 'any'
}

/** The row of a command as the emulated version has it. */
export function rowIn<Invocation>(language: Language, row: CommandRow<Invocation>): CommandRow<Invocation> {
  const { name, fields } = row
  if (fields === undefined) return row
  const present = fieldsIn(language, name, fields)
  const unknownFields = row.unknownFields ?? unknownFieldsIn(language, name)
  // A router that ignores fields passes them on, so they are not known to be its own.
  const memberFields = unknownFields === 'ignored' ? present : { ...present, ...row.memberFields }
  const handwritten = handwrittenParserIn(language, name)
  return { ...row, fields: present, memberFields, unknownFields, ...(handwritten === undefined ? {} : { handwritten }) }
}
