/** Server parameters that are set at the start. */
import { CommandError } from '@shardlab/bson'
import type { ParameterRow, StartParameters } from '@shardlab/member'
import { suggestion } from '@shardlab/quantities'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import { OptionError } from './option-error.js'

type ProcessName = 'mongod' | 'mongos'

export interface CheckedParameters {
  readonly accepted: StartParameters
  /** Names that no process has, with a hint. */
  readonly unknown: readonly (readonly [name: string, hint: string])[]
  readonly invalid: readonly (readonly [name: string, reason: CommandError])[]
}

/** Members of these get it as an option of their own. */
const ownOption = 'periodicNoopIntervalSecs'

/** @param processes that the parameters are for */
export async function checkParameters(
  given: StartParameters,
  { emulate, processes }: { readonly emulate: EmulatedVersion; readonly processes: readonly ProcessName[] },
): Promise<CheckedParameters> {
  const rows = await rowsOf(emulate, processes)
  const accepted: Record<string, StartParameters[string]> = {}
  const unknown: [string, string][] = []
  const invalid: [string, CommandError][] = []
  const { startValue } = await import('@shardlab/member')
  for (const [name, value] of Object.entries(given)) {
    const row = rows.get(name)
    if (row === undefined) {
      unknown.push([name, suggestion(name, [...rows.keys()]) ?? 'the command getParameter lists them.'])
      continue
    }
    try {
      accepted[name] = startValue(row, value)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      invalid.push([name, error])
    }
  }
  return { accepted, unknown, invalid }
}

/** Of a name in both tables, the row of mongod. */
async function rowsOf(
  emulate: EmulatedVersion,
  processes: readonly ProcessName[],
): Promise<ReadonlyMap<string, ParameterRow>> {
  const { parameterRows } = await import('@shardlab/member')
  const behaviours = behavioursOf(emulate)
  const ofMongos = processes.includes('mongos') ? (await import('@shardlab/mongos')).mongosParameters : []
  const ofMongod = processes.includes('mongod') ? (await import('@shardlab/node')).nodeParameters : []
  return new Map([...parameterRows(behaviours, ofMongos), ...parameterRows(behaviours, ofMongod)])
}

/** @throws OptionError */
export function resolveParameters(given: StartParameters = {}): StartParameters {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new OptionError(
      `setParameter is ${JSON.stringify(given)}; it must be an object such as { maxSessions: 1000 }.`,
    )
  if (ownOption in given) throw new OptionError(`setParameter has ${ownOption}: use the option ${ownOption}.`)
  return given
}

/** @throws OptionError for the first parameter that cannot be set */
export async function refuseParameters({
  setParameter,
  topology,
  emulate,
}: {
  readonly setParameter: StartParameters
  readonly topology: string
  readonly emulate: EmulatedVersion
}): Promise<void> {
  if (Object.keys(setParameter).length === 0) return
  const processes = topology === 'sharded' ? (['mongod', 'mongos'] as const) : (['mongod'] as const)
  const { unknown, invalid } = await checkParameters(setParameter, { emulate, processes })
  for (const [name, hint] of unknown)
    throw new OptionError(`setParameter has ${name}, which is not a parameter of ${emulate}; ${hint}`)
  for (const [name, reason] of invalid)
    throw new OptionError(`setParameter.${name} is ${JSON.stringify(setParameter[name])}: ${reason.message}.`)
}
