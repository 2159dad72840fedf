/** `--setParameter` and the options that are parameters. */
import {
  checkParameters,
  type EmulatedServer,
  type EmulatedServerOptions,
  type EmulatedVersion,
} from '@shardlab/cluster'
import { ServerOptionError } from './server-error.js'
import type { ServerLog } from './server-log.js'
import type { ServerSettings } from './server-settings.js'

type StartOptions = Pick<EmulatedServerOptions, 'setParameter' | 'periodicNoopIntervalSecs'>

/**
 * Parameters that the emulated server lacks have no effect, and the log says so.
 * @throws ServerOptionError for a value that the parameter cannot have
 */
export async function startParameters(
  { parameters, role }: ServerSettings,
  emulate: EmulatedVersion,
  log: ServerLog,
): Promise<StartOptions> {
  const { periodicNoopIntervalSecs: seconds, ...others } = parameters
  const ofMongod = role !== 'mongos'
  const given = ofMongod ? others : parameters
  const { accepted, unknown, invalid } = await checkParameters(given, {
    emulate,
    processes: [ofMongod ? 'mongod' : 'mongos'],
  })
  const isWrong = invalid.find(([, { codeName }]) => codeName === 'BadValue')
  if (isWrong !== undefined) throw new ServerOptionError(`BadValue: ${reasonOf(isWrong, given)}`)
  const without = [
    ...unknown.map(([name]) => [name, 'unknown parameter'] as const),
    ...invalid.map(([name, { message }]) => [name, message] as const),
  ]
  for (const [name, error] of without)
    log.add({
      ...{ severity: 'W', component: 'CONTROL', id: 636300, context: 'main' },
      ...{
        message: 'Parameter has no effect in the emulated server',
        attributes: { name, value: given[name], error },
      },
    })
  return {
    setParameter: accepted,
    ...(seconds === undefined || !ofMongod ? {} : { periodicNoopIntervalSecs: Number(seconds) }),
  }
}

function reasonOf([name, { message }]: readonly [string, Error], given: Readonly<Record<string, string>>): string {
  return message.startsWith('Unable to coerce')
    ? `Failed to parse value '${given[name]}' for setParameter ${name}`
    : message
}

export async function applyProfiling(server: EmulatedServer, settings: ServerSettings): Promise<void> {
  const slowMs = optionOf(settings, 'slowms')
  const level = optionOf(settings, 'profile')
  if (slowMs !== undefined || level !== undefined)
    await server.command({ profile: level ?? 0, ...(slowMs === undefined ? {} : { slowms: slowMs }), $db: 'admin' })
}

function optionOf({ given }: ServerSettings, name: string): unknown {
  return [...given].find(([option]) => option.name === name)?.[1]
}
