/** Server: `variableValidation::validateNameForUserWrite`, `validateNameForUserRead`. */
import { CommandError } from '@shardlab/bson'

/**
 * @throws CommandError FailedToParse (9) unless a user may define it: it begins with a small
 *   letter
 */
export function checkVariableName(name: string): void {
  if (name !== 'CURRENT') check(name, /^[a-z\u0080-\uffff]/)
}

/** @throws CommandError FailedToParse (9) unless a user may refer to it */
export function checkVariableRead(name: string): void {
  check(name, /^[A-Za-z\u0080-\uffff]/)
}

function check(name: string, first: RegExp): void {
  if (name === '') throw new CommandError('FailedToParse', 'empty variable names are not allowed')
  if (!first.test(name))
    throw new CommandError('FailedToParse', `'${name}' starts with an invalid character for a user variable name`)
  const wrong = /[^A-Za-z0-9_\u0080-\uffff]/.exec(name)
  if (wrong !== null)
    throw new CommandError(
      'FailedToParse',
      `'${name}' contains an invalid character for a variable name: '${wrong[0]}'`,
    )
}
