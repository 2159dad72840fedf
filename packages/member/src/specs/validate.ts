/** Server: validate.cpp. */
import type { CommandArguments } from '@shardlab/actor'
import { CommandError } from '@shardlab/bson'
import type { Behaviours } from '@shardlab/sharding'
import type { CommandSpec } from './command-spec.js'
import { onNamespace } from '../access/needs.js'

export const validateSpec = {
  name: 'validate',
  access: 'admin',
  privileges: onNamespace('validate'),
  manual: 'reference/command/validate',
  unknownFields: 'ignored',
  fields: {
    full: 'any',
    background: 'any',
    repair: 'any',
    fixMultikey: 'any',
    metadata: 'any',
    checkBSONConformance: 'any',
    enforceFastCount: 'any',
    warnOnSchemaValidation: 'any',
    logDiagnostics: 'any',
  },
} as const satisfies CommandSpec

type ValidateOption = keyof typeof validateSpec.fields

const exclusive: readonly (readonly [ValidateOption, ValidateOption])[] = [
  ['background', 'full'],
  ['background', 'enforceFastCount'],
  ['background', 'repair'],
  ['enforceFastCount', 'repair'],
  ['checkBSONConformance', 'repair'],
]

/**
 * @throws CommandError 72 InvalidOptions (before 6.2, 115 CommandNotSupported) for options that
 *   exclude each other, and for repair
 */
export function checkValidateOptions(args: CommandArguments, { validateOptionsAreInvalidOptions }: Behaviours): void {
  const asked = (name: ValidateOption): boolean => args.value(name)?.isTruthy() === true
  const refuse = (reason: string): CommandError =>
    new CommandError(
      validateOptionsAreInvalidOptions ? 'InvalidOptions' : 'CommandNotSupported',
      `Running the validate command with ${reason}`,
    )
  for (const [one, other] of exclusive) {
    if (asked(one) && asked(other)) throw refuse(`both { ${one}: true } and { ${other}: true } is not supported.`)
  }
  if (
    args.has('checkBSONConformance') &&
    !asked('checkBSONConformance') &&
    (asked('full') || asked('enforceFastCount'))
  )
    throw new CommandError(
      'InvalidOptions',
      "Cannot explicitly set 'checkBSONConformance: false' with full validation set.",
    )
  if (asked('repair')) throw refuse('{ repair: true } can only be performed in standalone mode.')
  const others: readonly ValidateOption[] = ['background', 'full', 'enforceFastCount', 'checkBSONConformance']
  if (asked('metadata') && others.some(asked))
    throw refuse('{ metadata: true } is not supported with any other options')
}
