/** `--setParameter` and the options that are parameters. */
import type { EmulatedServer } from '@shardlab/cluster'
import type { ServerLog } from './server-log.js'
import type { ServerSettings } from './server-settings.js'

/** The parameters that only the start of a server sets. */
export function startParameters({ parameters, role }: ServerSettings): { readonly periodicNoopIntervalSecs?: number } {
  const { periodicNoopIntervalSecs: seconds } = parameters
  return seconds === undefined || role === 'mongos' ? {} : { periodicNoopIntervalSecs: Number(seconds) }
}

export async function applyParameters(server: EmulatedServer, settings: ServerSettings, log: ServerLog): Promise<void> {
  const atStart = Object.keys(startParameters(settings))
  for (const [name, text] of Object.entries(settings.parameters)) {
    if (atStart.includes(name)) continue
    const { ok, errmsg } = await server.command({ setParameter: 1, [name]: parameterValue(text), $db: 'admin' })
    if (ok === 1) continue
    log.add({
      ...{ severity: 'W', component: 'CONTROL', id: 636300, context: 'main' },
      ...{
        message: 'Parameter has no effect in the emulated server',
        attributes: { name, value: text, error: errmsg },
      },
    })
  }
  const slowMs = optionOf(settings, 'slowms')
  const level = optionOf(settings, 'profile')
  if (slowMs !== undefined || level !== undefined)
    await server.command({ profile: level ?? 0, ...(slowMs === undefined ? {} : { slowms: slowMs }), $db: 'admin' })
}

function optionOf({ given }: ServerSettings, name: string): unknown {
  return [...given].find(([option]) => option.name === name)?.[1]
}

function parameterValue(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
