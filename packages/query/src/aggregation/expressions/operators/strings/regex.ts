/** Positions count code points. */
import {
  boolValue,
  BsonType,
  CommandError,
  DocumentWriter,
  documentValue,
  int32Value,
  nullValue,
  stringValue,
  type RawValue,
} from '@shardlab/bson'
import { compilePattern } from '../../../../filter/patterns/pattern.js'
import { arrayValue } from '../../../../values/build.js'
import { regexParts } from '../../../../values/format.js'
import { namedOperator } from '../../arguments.js'
import type { ExpressionOperator } from '../../expression.js'

/** Null: input or pattern is null or missing, and so is the result. */
function patternOf(name: string, regex: RawValue | undefined, options: RawValue | undefined): RegExp | null {
  let flags = ''
  let pattern: string | null = null
  if (regex?.type === BsonType.regex) {
    ;[pattern, flags] = regexParts(regex)
  } else if (regex?.type === BsonType.string) pattern = regex.asString()
  else if (regex !== undefined && !regex.isNullish())
    throw new CommandError(51105, `${name} needs 'regex' to be of type string or regex`)
  if (options !== undefined && !options.isNullish()) {
    if (options.type !== BsonType.string) throw new CommandError(51106, `${name} needs 'options' to be of type string`)
    if (flags !== '')
      throw new CommandError(51107, `${name}: found regex option(s) specified in both 'regex' and 'option' fields`)
    flags = options.asString()
    if (flags.includes('\0'))
      throw new CommandError(51110, `${name}: regular expression options cannot contain an embedded null byte`)
  }
  if (pattern === null) return null
  if (pattern.includes('\0'))
    throw new CommandError(51109, `${name}: regular expression cannot contain an embedded null byte`)
  for (const flag of flags)
    if (!'imsxu'.includes(flag)) throw new CommandError(51108, `${name} invalid flag in regex options: ${flag}`)
  try {
    return compilePattern(pattern, flags)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(51111, `Invalid Regex in ${name}: ${error.message}`)
  }
}

function regexOperator(
  name: string,
  evaluate: (text: string, pattern: RegExp) => RawValue,
  nothing: RawValue,
): ExpressionOperator {
  const row = namedOperator(
    name,
    {
      fields: ['input', 'regex', 'options'],
      required: {
        input: [31022, `${name} requires 'input' parameter`],
        regex: [31023, `${name} requires 'regex' parameter`],
      },
      notObject: (type) => new CommandError(51103, `${name} expects an object of named arguments but found: ${type}`),
      unknown: (field) => new CommandError(31024, `${name} found an unknown argument: ${field}`),
    },
    ([input, regex, options]) => {
      const pattern = patternOf(name, regex, options)
      if (input !== undefined && !input.isNullish() && input.type !== BsonType.string)
        throw new CommandError(51104, `${name} needs 'input' to be of type string`)
      if (pattern === null || input === undefined || input.isNullish()) return nothing
      return evaluate(input.asString(), pattern)
    },
  )
  return { ...row, status: 'partial', missing: 'patterns that the query operator $regex refuses' }
}

function found(text: string, match: RegExpMatchArray): RawValue {
  const captures = match
    .slice(1)
    .map((capture: string | undefined) => (capture === undefined ? nullValue : stringValue(capture)))
  return documentValue(
    new DocumentWriter()
      .string('match', match[0])
      .value('idx', int32Value(Array.from(text.slice(0, match.index)).length))
      .value('captures', arrayValue(captures))
      .finish(),
  )
}

export const regexExpressions: readonly ExpressionOperator[] = [
  regexOperator('$regexMatch', (text, pattern) => boolValue(pattern.test(text)), boolValue(false)),
  regexOperator(
    '$regexFind',
    (text, pattern) => {
      const match = pattern.exec(text)
      return match === null ? nullValue : found(text, match)
    },
    nullValue,
  ),
  regexOperator(
    '$regexFindAll',
    (text, pattern) =>
      arrayValue(
        Array.from(text.matchAll(new RegExp(pattern.source, `${pattern.flags}g`)), (match) => found(text, match)),
      ),
    arrayValue([]),
  ),
]
