/** Server: options_parser.cpp and, for the texts, Boost.Program_options. */
import { valueFromText, type GivenOptions } from './given-options.js'
import type { ServerOption } from './option-table.js'
import { ServerOptionError } from './server-error.js'

/** @throws ServerOptionError */
export function parseCommandLine(args: readonly string[], options: readonly ServerOption[]): GivenOptions {
  const given: GivenOptions = new Map()
  const words = [...args]
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const found = word.startsWith('--') ? longOption(word, options) : shortOption(word, options)
    const { option } = found
    if (option.type === 'switch') {
      if (found.argument !== null) throw wrong(`option '${found.shown}' does not take any arguments`)
      give(given, option, true, found.shown)
      continue
    }
    const argument = found.argument ?? (words[0]?.startsWith('-') === true ? undefined : words.shift())
    if (argument === undefined) throw wrong(`the required argument for option '${found.shown}' is missing`)
    give(given, option, valueFromText(option, argument), found.shown)
  }
  return given
}

interface FoundOption {
  readonly option: ServerOption
  /** For error texts. */
  readonly shown: string
  /** Null: the next word, if the option takes one. */
  readonly argument: string | null
}

function longOption(word: string, options: readonly ServerOption[]): FoundOption {
  const at = word.indexOf('=')
  const name = at < 0 ? word.slice(2) : word.slice(2, at)
  const option = name === '' ? undefined : options.find((each) => each.name === name)
  if (option === undefined) throw wrong(`unrecognised option '${word}'`)
  return { option, shown: `--${name}`, argument: at < 0 ? null : word.slice(at + 1) }
}

function shortOption(word: string, options: readonly ServerOption[]): FoundOption {
  if (!word.startsWith('-')) throw wrong('too many positional options have been specified on the command line')
  const option = options.find(({ short }) => short === word[1])
  if (option === undefined) throw wrong(`unrecognised option '${word}'`)
  const rest = word.slice(2)
  // -v, -vv, …: more verbose.
  const isRepeated = option.type === 'switch' && [...rest].every((letter) => letter === option.short)
  return { option, shown: `--${option.name}`, argument: rest === '' || isRepeated ? null : rest }
}

function give(given: GivenOptions, option: ServerOption, value: unknown, shown: string): void {
  const before = given.get(option)
  if (option.type === 'map' && before !== undefined) value = { ...(before as object), ...(value as object) }
  else if (option.type === 'strings' && before !== undefined) value = [...(before as string[]), ...(value as string[])]
  else if (before !== undefined && option.name !== 'verbose')
    throw wrong(`option '${shown}' cannot be specified more than once`)
  given.set(option, value)
}

function wrong(text: string): ServerOptionError {
  return new ServerOptionError(`Error parsing command line: ${text}`)
}
