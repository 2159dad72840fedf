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
import {
  checkPatternOptions,
  compilePattern,
  type Pattern,
  type PatternMatch,
} from '../../../../filter/patterns/pattern.js'
import { limitReached } from '../../../../filter/patterns/run-program.js'
import { arrayValue } from '../../../../values/build.js'
import { regexParts } from '../../../../values/format.js'
import { namedOperator, type NamedArguments } from '../../arguments.js'
import type { EvaluationContext } from '../../../../context.js'
import type { ExpressionOperator } from '../../expression.js'
import { newestLanguage, type Language } from '../../../../language/language.js'

/** Null: input or pattern is null or missing, and so is the result. */
function patternOf(
  name: string,
  regex: RawValue | undefined,
  options: RawValue | undefined,
  language: Language,
): Pattern | null {
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
  checkPatternOptions(name, flags, language)
  try {
    return compilePattern(pattern, flags)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(51111, `Invalid Regex in ${name}: ${error.message}`)
  }
}

/** Finds matches in a text, or fails when PCRE would. */
type Find = (from: number) => PatternMatch | null

function regexOperator(
  name: string,
  evaluate: (text: string, find: Find) => RawValue,
  nothing: RawValue,
): ExpressionOperator {
  const row = namedOperator(name, namedArguments(name), () => undefined)
  return {
    ...row,
    status: 'partial',
    deviations: ['D103'],
    missing: 'patterns that the query operator $regex refuses',
    compile: (argument, compiler) => {
      const { language = newestLanguage } = compiler.context
      return namedOperator(name, namedArguments(name), ([input, regex, options]) => {
        const pattern = patternOf(name, regex, options, language)
        if (input !== undefined && !input.isNullish() && input.type !== BsonType.string)
          throw new CommandError(51104, `${name} needs 'input' to be of type string`)
        if (pattern === null || input === undefined || input.isNullish()) return nothing
        const text = input.asString()
        return evaluate(text, (from) => findIn(name, pattern, text, from, compiler.context))
      }).compile(argument, compiler)
    },
  }
}

function findIn(
  name: string,
  pattern: Pattern,
  text: string,
  from: number,
  { checkForInterrupt, language = newestLanguage }: EvaluationContext,
): PatternMatch | null {
  const found = pattern.find(text, from, checkForInterrupt)
  if (found !== limitReached) return found
  const result = language.regexUsesPcre2 ? 'match limit exceeded' : '-8'
  throw new CommandError(
    51156,
    `Error occurred while executing the regular expression in ${name}. Result code: ${result}`,
  )
}

function namedArguments(name: string): NamedArguments {
  return {
    fields: ['input', 'regex', 'options'],
    required: {
      input: [31022, `${name} requires 'input' parameter`],
      regex: [31023, `${name} requires 'regex' parameter`],
    },
    notObject: (type) => new CommandError(51103, `${name} expects an object of named arguments but found: ${type}`),
    unknown: (field) => new CommandError(31024, `${name} found an unknown argument: ${field}`),
  }
}

/** @param index of the match in code points */
function found({ groups }: PatternMatch, index: number): RawValue {
  const captures = groups.slice(1).map((capture) => (capture === undefined ? nullValue : stringValue(capture)))
  return documentValue(
    new DocumentWriter()
      .string('match', groups[0]!)
      .value('idx', int32Value(index))
      .value('captures', arrayValue(captures))
      .finish(),
  )
}

function codePointsBetween(text: string, from: number, to: number): number {
  let count = 0
  for (let at = from; at < to; count++) at += widthAt(text, at)
  return count
}

const widthAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

/** Server: BufferMaxSize. */
const foundBytesMax = 64 * 1024 * 1024

function* findAll(text: string, find: Find): Generator<RawValue> {
  let index = 0
  let counted = 0
  let bytes = 0
  for (let from = 0; from <= text.length;) {
    const match = find(from)
    if (match === null) return
    index += codePointsBetween(text, counted, match.index)
    counted = match.index
    const value = found(match, index)
    bytes += value.end - value.start
    if (bytes > foundBytesMax)
      throw new CommandError(51151, '$regexFindAll: the size of buffer to store output exceeded the 64MB limit')
    yield value
    const end = match.index + match.groups[0]!.length
    // After an empty match the search continues after the next character.
    from = end > match.index ? end : end + widthAt(text, end)
  }
}

export const regexExpressions: readonly ExpressionOperator[] = [
  regexOperator('$regexMatch', (_text, find) => boolValue(find(0) !== null), boolValue(false)),
  regexOperator(
    '$regexFind',
    (text, find) => {
      const match = find(0)
      return match === null ? nullValue : found(match, codePointsBetween(text, 0, match.index))
    },
    nullValue,
  ),
  regexOperator('$regexFindAll', (text, find) => arrayValue(findAll(text, find)), arrayValue([])),
]
