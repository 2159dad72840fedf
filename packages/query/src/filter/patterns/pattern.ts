import { CommandError } from '@shardlab/bson'
import { translatePattern } from './syntax.js'

/** The keys are options and pattern. Commands repeat the same ones. */
const cache = new Map<string, RegExp>()
const maxCached = 500

/**
 * The expression is shared, so it has no state (flags `g`, `y`).
 * @throws CommandError 51108 for an unknown option, 51091 for a pattern that does not compile
 */
export function compilePattern(pattern: string, options: string): RegExp {
  const key = `${options}/${pattern}`
  let expression = cache.get(key)
  if (expression === undefined) {
    expression = translated(pattern, options)
    if (cache.size >= maxCached) cache.clear()
    cache.set(key, expression)
  }
  return expression
}

function translated(pattern: string, options: string): RegExp {
  for (const option of options) {
    if (!'imsxu'.includes(option)) throw new CommandError(51108, `invalid flag in regex options: ${option}`)
  }
  if (pattern.includes('\0'))
    throw new CommandError('BadValue', 'Regular expression cannot contain an embedded null byte')
  try {
    const { text, ignoreCase } = translatePattern(pattern, new Set(options))
    return new RegExp(text, ignoreCase ? 'iu' : 'u')
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(51091, `Regular expression is invalid: ${(error as Error).message}`)
  }
}
