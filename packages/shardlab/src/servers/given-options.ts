import type { ServerOption } from './option-table.js'
import { ServerOptionError } from './server-error.js'

/** Options with their values: boolean, number, text, texts, or texts by name. */
export type GivenOptions = Map<ServerOption, unknown>

/** @throws ServerOptionError */
export function valueFromText({ type, name, path }: ServerOption, text: string): unknown {
  const shown = name === '' ? path : name
  switch (type) {
    case 'switch':
    case 'bool':
      if (text !== 'true' && text !== 'false')
        throw new ServerOptionError(
          `Expected boolean${type === 'switch' ? ' switch' : ''} but found string: ${text} for option: ${shown}`,
        )
      return text === 'true'
    case 'int':
      if (!/^[+-]?\d+$/.test(text))
        throw new ServerOptionError(`Error parsing option "${shown}" as int: ${numberProblem(text)}`)
      return Number(text)
    case 'number':
      if (text.trim() === '' || Number.isNaN(Number(text)))
        throw new ServerOptionError(`Error parsing option "${shown}" as double in: ${numberProblem(text)}`)
      return Number(text)
    case 'strings':
      return [text]
    case 'map': {
      const at = text.indexOf('=')
      if (at < 0) throw new ServerOptionError(`Illegal option assignment: "${text}"`)
      return { [text.slice(0, at)]: text.slice(at + 1) }
    }
    case 'string':
      return text
  }
}

function numberProblem(text: string): string {
  if (text === '') return 'Empty string'
  return /^[+-]?\d/.test(text) ? 'Did not consume whole string.' : 'Did not consume any digits'
}

/** As the log shows it: `{ net: { port: 27017 } }`. Server: cmdline_utils/censor_cmdline.cpp. */
export function nestedByPath(given: GivenOptions): Record<string, unknown> {
  const nested: Record<string, unknown> = {}
  for (const [{ name, path }, value] of given) {
    const parts = path === null ? [name] : path.split('.')
    let section = nested
    for (const part of parts.slice(0, -1)) section = (section[part] ??= {}) as Record<string, unknown>
    section[parts.at(-1)!] = /password$/i.test(parts.at(-1)!) ? '<password>' : value
  }
  return nested
}
