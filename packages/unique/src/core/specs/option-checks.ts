import { RefusedOperationError } from '../errors.js'

/** @throws RefusedOperationError for an option with another name */
export function checkNames(what: string, options: object, known: readonly string[]): void {
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new RefusedOperationError(`unknown option ${unknown} of ${what}: the options are ${known.join(', ')}`)
}

/** A value in a message. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'function') return 'a function'
  return JSON.stringify(value) ?? String(value)
}
